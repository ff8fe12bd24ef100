//! Words by which rules are known, in the languages that conventions are
//! written in most.

/// Words that demand or forbid.
const DEMANDS: &[&str] = &[
    // English
    "never",
    "must",
    "mustn't",
    "always",
    "don't",
    "cannot",
    "can't",
    "shall",
    "required",
    "requires",
    "forbidden",
    "prohibited",
    "mandatory",
    "do not",
    "must not",
    "not allowed",
    "may not",
    "at all times",
    // German
    "nie",
    "niemals",
    "muss",
    "müssen",
    "immer",
    "stets",
    "verboten",
    "untersagt",
    "zwingend",
    "pflicht",
    "verpflichtend",
    "erforderlich",
    "keinesfalls",
    "darf nicht",
    "dürfen nicht",
    "nicht erlaubt",
    "nicht verwenden",
    // French
    "jamais",
    "toujours",
    "interdit",
    "interdite",
    "interdits",
    "interdites",
    "obligatoire",
    "obligatoires",
    "obligatoirement",
    "doit",
    "doivent",
    "impérativement",
    "requis",
    "requise",
    "ne pas",
    "il faut",
    // Spanish
    "nunca",
    "jamás",
    "siempre",
    "prohibido",
    "prohibida",
    "prohibidos",
    "prohibidas",
    "obligatorio",
    "obligatoria",
    "debe",
    "deben",
    "imprescindible",
    "requerido",
    "requerida",
    "hay que",
];

/// Words that recommend.
const WISHES: &[&str] = &[
    // English
    "use",
    "uses",
    "prefer",
    "preferred",
    "avoid",
    "should",
    "shouldn't",
    "recommended",
    "favor",
    "favour",
    "ideally",
    // German
    "verwende",
    "verwenden",
    "verwendet",
    "nutze",
    "nutzen",
    "bevorzuge",
    "bevorzugen",
    "bevorzugt",
    "vermeide",
    "vermeiden",
    "soll",
    "sollen",
    "sollte",
    "sollten",
    "empfohlen",
    // French
    "utiliser",
    "utilisez",
    "préférer",
    "préférez",
    "éviter",
    "évitez",
    "devrait",
    "devraient",
    "recommandé",
    "recommandée",
    "privilégier",
    "privilégiez",
    // Spanish
    "usar",
    "usa",
    "utilizar",
    "utiliza",
    "preferir",
    "prefiere",
    "evitar",
    "evita",
    "evite",
    "debería",
    "deberían",
    "recomendado",
    "recomendada",
];

/// The same where words are not set apart: Korean, Japanese, Chinese.
const UNSPACED_DEMANDS: &[&str] = &[
    "금지",
    "절대",
    "반드시",
    "항상",
    "필수",
    "하지 마",
    "하지마",
    "하지 않",
    "안 된다",
    "안된다",
    "안 됩니다",
    "해야",
    "말 것",
    "마십시오",
    "마세요",
    "의무",
    "禁止",
    "必ず",
    "決して",
    "絶対",
    "必須",
    "いけない",
    "ならない",
    "いけません",
    "なりません",
    "しないこと",
    "常に",
    "不可",
    "必须",
    "不得",
    "不要",
    "切勿",
    "绝不",
    "絕不",
    "绝对",
    "絕對",
    "不能",
    "总是",
    "總是",
    "始终",
    "始終",
    "务必",
    "務必",
    "严禁",
    "嚴禁",
];

const UNSPACED_WISHES: &[&str] = &[
    "사용",
    "권장",
    "선호",
    "피하",
    "피한",
    "가급적",
    "지향",
    "使う",
    "使い",
    "使用",
    "推奨",
    "避け",
    "べき",
    "優先",
    "好まし",
    "优先",
    "避免",
    "应该",
    "應該",
    "应当",
    "應當",
    "建议",
    "建議",
    "推荐",
    "推薦",
    "尽量",
    "儘量",
];

/// Beginnings of words in headings under which rules stand.
const FAVOURED: &[&str] = &[
    "rule",
    "convention",
    "guideline",
    "test",
    "secur",
    "style",
    "struct",
    "naming",
    "lint",
    "format",
    "error",
    "review",
    "commit",
    "regel",
    "sicherheit",
    "stil",
    "struktur",
    "règle",
    "sécurité",
    "regla",
    "seguridad",
    "estilo",
    "estructura",
    "prueba",
];

const UNSPACED_FAVOURED: &[&str] = &[
    "규칙",
    "테스트",
    "보안",
    "스타일",
    "구조",
    "규약",
    "コーディング",
    "規約",
    "規則",
    "テスト",
    "セキュリティ",
    "スタイル",
    "構造",
    "规则",
    "规范",
    "規範",
    "测试",
    "測試",
    "安全",
    "风格",
    "風格",
    "结构",
    "結構",
];

/// Words without which a sentence says the same.
const FILLERS: &[&str] = &[
    "a", "an", "the", "and", "or", "of", "to", "in", "on", "for", "is", "are", "be", "please",
    "der", "die", "das", "und", "le", "la", "les", "et", "de", "el", "los", "y",
];

/// Words before whose full stop no sentence ends.
const ABBREVIATIONS: &[&str] = &[
    "e.g", "i.e", "etc", "vs", "cf", "approx", "no", "z.b", "d.h", "u.a", "bzw", "ca", "p.ex",
    "p.ej", "sr", "mr", "mrs", "dr", "st",
];

/// What a piece asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Modality {
    /// It tells something.
    Descriptive,
    /// It recommends.
    Recommended,
    /// It demands or forbids.
    Required,
}

/// The words of a text: letters, digits and apostrophes, in lower case.
pub(super) fn words(text: &str) -> Vec<String> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '\'' || c == '’'))
        .map(|word| word.trim_matches(['\'', '’']))
        .filter(|word| !word.is_empty())
        .map(|word| word.to_lowercase().replace('’', "'"))
        .collect()
}

/// What a text of these words asks for.
pub(super) fn modality(text: &str, words: &[String]) -> Modality {
    let says = |vocabulary: &[&str], unspaced: &[&str]| {
        words.iter().any(|word| vocabulary.contains(&word.as_str()))
            || words
                .windows(2)
                .any(|pair| vocabulary.contains(&format!("{} {}", pair[0], pair[1]).as_str()))
            || (!text.is_ascii() && unspaced.iter().any(|part| text.contains(part)))
    };
    if says(DEMANDS, UNSPACED_DEMANDS) {
        Modality::Required
    } else if says(WISHES, UNSPACED_WISHES) {
        Modality::Recommended
    } else {
        Modality::Descriptive
    }
}

/// Whether a heading is about what rules are about.
pub(super) fn is_favoured_heading(label: &str) -> bool {
    let begins = |word: &String| FAVOURED.iter().any(|stem| word.starts_with(stem));
    words(label).iter().any(begins) || UNSPACED_FAVOURED.iter().any(|part| label.contains(part))
}

/// Whether a word says nothing by itself.
pub(super) fn is_filler(word: &str) -> bool {
    FILLERS.contains(&word)
}

/// Whether a full stop after this word ends no sentence.
pub(super) fn is_abbreviation(word: &str) -> bool {
    let word = word.trim_start_matches(|c: char| !c.is_alphanumeric());
    word.len() <= 6 && ABBREVIATIONS.contains(&word.to_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_known_in_every_language() {
        let modality_of = |text: &str| modality(text, &words(text));
        for text in [
            "Never push.",
            "Don’t push.",
            "DO NOT push",
            "You must test",
            "절대 푸시하지 않는다",
            "커밋 금지",
            "Niemals pushen",
            "Es darf nicht fehlen",
            "Ne pas pousser",
            "C'est obligatoire.",
            "No, nunca.",
            "Hay que probar",
            "mainへのpushは禁止",
            "必ずテストする",
            "必须测试",
            "切勿提交密钥",
        ] {
            assert_eq!(modality_of(text), Modality::Required, "{text}");
        }
        for text in [
            "Use tabs",
            "We prefer this",
            "탭을 사용",
            "Bitte vermeiden",
            "Évitez cela",
            "Evitar eso",
            "タブを使う",
            "建议缩进",
        ] {
            assert_eq!(modality_of(text), Modality::Recommended, "{text}");
        }
        for text in ["The museum is nice", "user", "탭", ""] {
            assert_eq!(modality_of(text), Modality::Descriptive, "{text}");
        }
        assert!(is_favoured_heading("Unit Testing") && is_favoured_heading("보안 규칙"));
        assert!(!is_favoured_heading("History"));
    }
}
