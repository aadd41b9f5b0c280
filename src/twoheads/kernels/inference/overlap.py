"""What agreement alone can show about members: who shares enough items with whom, and who never differs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import breadth_first_order, connected_components, minimum_spanning_tree

from twoheads.kernels.arrays import Codes

#: A round of members identifies their accuracies if so many shared items close it, or so large a share of all of them.
CLOSING_ITEMS, CLOSING_SHARE = 30, 0.1
#: Members who never differ, or who are constant, are noticed from so many items on.
ENOUGH_SHARED = 20
#: ... if that has a smaller probability by chance, corrected for the number of pairs.
CHANCE = 0.001
#: With so large a share of products that are not 0, and no more numbers (160 MB), dense arrays are multiplied faster.
_DENSE_SHARE, _DENSE_NUMBERS = 0.15, 20_000_000


def shared_items(item: Codes, member: Codes, n_items: int, n_members: int) -> csr_array:
    """How many items each two members share, (n_members, n_members), 0 on the diagonal.

    item, member  (n_answers,) of each answer; several of one member about one item count once
    """
    seen = coo_array((np.ones(len(item)), (item, member)), shape=(n_items, n_members)).tocsr()
    seen.data[:] = 1.0
    each = np.diff(seen.indptr).astype(np.float64)
    if n_items * n_members <= _DENSE_NUMBERS and each @ each > _DENSE_SHARE * n_items * n_members**2:
        dense = seen.toarray()
        shared = csr_array(dense.T @ dense)  # sums of ones, exact either way
    else:
        shared = csr_array(seen.T @ seen)
    shared.setdiag(0.0)
    shared.eliminate_zeros()
    return shared


def undecided_members(shared: csr_array) -> NDArray[np.bool_]:
    """Members whose accuracies agreement cannot show, (n_members,), by how many items each two share.

    How often two agree is one equation for two accuracies. A third who shares items with both gives as many equations
    as there are accuracies, and so does any round of an odd number of members; a chain never does. So members are
    undecided who are connected by chains and even rounds only, or by odd ones that few items close: those that two
    members share who are an even number of steps apart in the tree of the most shared items.
    """
    n_parts, part = connected_components(shared, directed=False)
    odd = _odd_depth(csr_array(minimum_spanning_tree(-shared)), np.unique(part, return_index=True)[1])
    pairs = coo_array(shared)
    one, other = pairs.coords
    closing = np.bincount(part[one], pairs.data * (odd[one] == odd[other]), n_parts)
    total = np.bincount(part[one], pairs.data, n_parts)
    decided = (closing >= 2.0 * CLOSING_ITEMS) | ((closing > 0) & (closing >= CLOSING_SHARE * total))
    return np.asarray(~decided[part])


def _odd_depth(forest: csr_array, roots: Codes) -> NDArray[np.bool_]:
    """Nodes an odd number of steps away from the root of their tree, (n_nodes,)."""
    n = forest.shape[0]
    one, other = coo_array(forest).coords
    above = np.concatenate([one, np.full(len(roots), n)]), np.concatenate([other, roots])  # one node above all roots
    tree = coo_array((np.ones(len(above[0])), above), shape=(n + 1, n + 1))
    order, before = breadth_first_order(tree, n, directed=False)
    odd = np.ones(n + 1, dtype=bool)
    for node in order[1:].tolist():
        odd[node] = not odd[before[node]]
    return odd[:n]


def constant_members(member: Codes, answer: Codes, n_members: int) -> NDArray[np.bool_]:
    """Members who give the same answer each time, and often enough, (n_members,): agreement with them shows nothing.

    member, answer  (n_answers,) of each answer
    """
    n_answers = int(answer.max(initial=0)) + 1
    given = np.unique(member * n_answers + answer) // n_answers
    often = np.bincount(member, minlength=n_members) >= ENOUGH_SHARED
    return np.asarray(often & (np.bincount(given, minlength=n_members) == 1))


def never_differing(item: Codes, member: Codes, answer: Codes, n_items: int, n_members: int) -> list[Codes]:
    """Groups of members who gave the same answers to all items that any two of them share, more often than by chance.

    Chance is that each item is one on which they differ with the probability that they differ from others; where
    nobody else answers, any agreement on enough items counts.

    item, member, answer  (n_answers,) of each answer, of members who are not constant
    """
    n_answers = int(answer.max(initial=0)) + 1
    shared = coo_array(shared_items(item, member, n_items, n_members))
    same = shared_items(item * n_answers + answer, member, n_items * n_answers, n_members)
    one, other = (np.asarray(end, dtype=np.intp) for end in shared.coords)
    agreed = np.asarray(same[one, other]).ravel() if len(one) else np.zeros(0)
    alike = (shared.data >= ENOUGH_SHARED) & (agreed == shared.data)
    beside, differed = (np.bincount(one, ~alike * number, n_members) for number in (shared.data, shared.data - agreed))
    rate = np.divide(differed, beside, out=np.ones(n_members), where=beside > 0)
    chance = (1.0 - np.minimum(rate[one], rate[other])) ** shared.data * max(1.0, len(one) / 2.0)
    alike &= chance < CHANCE
    links = coo_array((-shared.data[alike], (one[alike], other[alike])), shape=shared.shape)
    differing = agreed < shared.data
    return _groups(csr_array(minimum_spanning_tree(links.tocsr())), one[differing], other[differing])


def _groups(tree: csr_array, one: Codes, other: Codes) -> list[Codes]:
    """The nodes that edges connect, from the lowest edge on, without those that would join two nodes that differ.

    one, other  (n_pairs,) the nodes that differ
    """
    edges = coo_array(tree)
    linked = np.zeros(tree.shape[0], dtype=bool)
    linked[np.concatenate(edges.coords)] = True
    apart: dict[int, set[int]] = {}
    for first, second in np.stack([one, other], axis=1)[linked[one] & linked[other]].tolist():
        apart.setdefault(first, set()).add(second)
    group: dict[int, set[int]] = {}
    for first, second in np.stack(edges.coords, axis=1)[edges.data.argsort(kind="stable")].tolist():
        few, many = sorted((group.get(first, {first}), group.get(second, {second})), key=len)
        if all(many.isdisjoint(apart.get(node, ())) for node in few):
            joined = few | many
            group |= dict.fromkeys(joined, joined)
    return [np.array(sorted(nodes)) for node, nodes in sorted(group.items()) if node == min(nodes)]
