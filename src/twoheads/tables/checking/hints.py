"""Words in the names of columns, and of classes, that speak for a role; other languages are without accents."""

from __future__ import annotations

from twoheads.tables.schema.person_words import PERSON_WORDS, words

ITEM = words("""
    item id ids image img images case cases study patient file filename path accession doc document url uuid task sample
    record key nr no number index row subject series scan hit question tweet post sentence slide lesion exam example
    instance unit object prompt query ticket
    bild bildnummer fall fallnummer nummer datei patientennummer aufnahme
    imagen caso numero archivo paciente
    cas fichier dossier
    immagine paziente afbeelding imagem 画像 图像 编号 番号
""")
#: Words that a column of ids has even if its numbers have points or commas.
ID = words("id ids uuid accession key nummer nr numero")
TRUTH = words("""
    truth true gold golden goldstandard ground gt reference ref target correct consensus biopsy pathology histology
    outcome actual real adjudicated final
    wahrheit referenz konsens histologie endbefund
    verite terrain consenso verdad oro referencia verita riferimento verdade waarheid referentie
    正解 真値 真值 金标准
""")
#: Words that leave no doubt that a column holds the truth, even beside a word for a person.
SURE_TRUTH = words("""
    truth gold golden goldstandard ground gt reference consensus adjudicated
    wahrheit referenz konsens verite verdad referencia consenso verita verdade waarheid referentie 正解 真値 真值 金标准
""")
PERSON = PERSON_WORDS
MODEL = words("""
    ai model score scores prob probs probability probabilities p pred prediction predicted proba cnn net network resnet
    vgg densenet efficientnet mobilenet convnext xgboost lightgbm bert deberta llm algorithm machine cad classifier
    judge logit logits softmax ml dl gpt chatgpt openai claude sonnet haiku gemini llama qwen mistral mixtral ministral
    deepseek grok
    ki modell wahrscheinlichkeit vorhersage algorithmus
    ia modele probabilite modelo probabilidad prediccion modello probabilita probabilidade waarschijnlijkheid
""")
SCORE = words("""
    score scores logit logits logprob logprobs prob probs probability probabilities p proba likelihood risk softmax
    wahrscheinlichkeit probabilite probabilidad probabilita probabilidade waarschijnlijkheid
""")
LOGIT, LOG = words("logit logits"), words("log logprob logprobs loglikelihood")
#: Words for a model's label, beside its numbers.
PREDICTION = words("pred preds prediction predicted")
CONFIDENCE = words("""
    confidence conf certainty sure sureness confident
    sicherheit konfidenz certitude confiance confianza certeza confidenza sicurezza confianca zekerheid
""")
#: Words beside those in the name of a column of confidences that name nobody.
BESIDE_CONFIDENCE = words("of for by in level value rating")
ANSWER = words("answer answers label labels annotation response choice rating verdict antwort reponse respuesta")
#: Words of columns that are made from answers, and are nobody's.
DERIVED = words("majority vote votes combined agreement agree agreed mehrheit majorite mayoria")
#: Words of columns that are about an answer, and are none.
ASIDE = words("""
    time duration seconds sec secs ms minutes date comment comments remark remarks note notes correct error wrong
    zeit dauer sekunden datum bemerkung kommentar temps commentaire tiempo fecha comentario
""")
GROUP = words("""
    site hospital sex gender age group centre center scanner region language country source batch split fold view
    category type vendor department race ethnicity year geschlecht standort klinik sexe sexo hopital
""")
#: Names of the class that high scores mean, the surest first.
POSITIVE = ("positive", "abnormal", "yes", "true", "1", "pos", "malignant", "toxic", "spam", "defect", "present")
