//! Which language a passage is in, as far as a few of its words and letters tell.
//!
//! The classifier has seen far less of some languages than of others, so each has its own margin. A guess costs a look at every
//! word, which is why only what scores at all is asked for its language.

use crate::words::Word;

include!(concat!(env!("OUT_DIR"), "/languages.rs"));

/// A language by its place in `rules/injection/languages.toml`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Language(u8);

impl Language {
    /// None of those that are known, or too few words to tell.
    pub const OTHER: Language = Language(31);
    /// How many there are, with [`Language::OTHER`] and the places nobody has yet.
    pub const COUNT: usize = 32;

    /// Its code (ISO 639-1), `und` where it is none of them.
    pub fn code(self) -> &'static str {
        CODES.get(usize::from(self.0)).copied().unwrap_or("und")
    }

    /// Its number.
    pub fn index(self) -> usize {
        usize::from(self.0)
    }

    /// The language with this code.
    pub fn from_code(code: &str) -> Option<Self> {
        let at = CODES.iter().position(|known| *known == code)?;
        u8::try_from(at).ok().map(Self)
    }

    /// The language some words of a text are in.
    pub fn guess(text: &str, words: &[Word]) -> Self {
        let mut points = [0_u32; Self::COUNT];
        let mut add = |at: usize, more: u32| {
            if let Some(points) = points.get_mut(at) {
                *points += more;
            }
        };
        for word in words {
            if let Ok(found) = WORDS.binary_search_by_key(&word.hash, |(hash, _)| *hash)
                && let Some((_, mask)) = WORDS.get(found)
            {
                let mut left = *mask;
                while left != 0 {
                    add(left.trailing_zeros() as usize, WORD);
                    left &= left - 1;
                }
            }
            let spelling = text.get(word.start as usize..word.end as usize);
            for c in spelling
                .unwrap_or_default()
                .chars()
                .filter(|c| !c.is_ascii())
            {
                let c = c.to_lowercase().next().unwrap_or(c);
                for (first, last, at, is_own) in &LETTERS {
                    if (*first..=*last).contains(&c) {
                        add(usize::from(*at), if *is_own { OWN } else { LETTER });
                    }
                }
            }
        }
        let best = points
            .iter()
            .enumerate()
            .rev()
            .max_by_key(|(_, points)| **points);
        match best {
            Some((at, points)) if *points >= MIN_POINTS => {
                u8::try_from(at).map_or(Self::OTHER, Self)
            }
            _ => Self::OTHER,
        }
    }
}

/// What a word of a language counts, a letter of its script, and a letter that it alone has.
const WORD: u32 = 4;
const LETTER: u32 = 1;
const OWN: u32 = 4;
/// With less than two words nobody can tell.
const MIN_POINTS: u32 = 8;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words;

    fn guessed(text: &str) -> &'static str {
        let mut list = Vec::new();
        words::split(text, &mut list);
        Language::guess(text, &list).code()
    }

    #[test]
    fn a_sentence_tells_its_language() {
        for (code, text) in [
            (
                "en",
                "Please send the form to the office before Friday and tell Anna.",
            ),
            (
                "de",
                "Bitte schicken Sie das Formular an die Verwaltung und sagen Sie Anna, dass es eilt.",
            ),
            (
                "fr",
                "Envoyez le formulaire avant vendredi et dites à Anna que la réunion est reportée.",
            ),
            (
                "es",
                "Envíe el formulario a la oficina antes del viernes y avise a los compañeros.",
            ),
            (
                "pt",
                "Envie o formulário para a secretaria e não se esqueça de avisar os colegas.",
            ),
            (
                "it",
                "Mandate il modulo alla segreteria e non dimenticate di avvisare i colleghi della riunione.",
            ),
            (
                "pl",
                "Proszę wysłać formularz do biura przed piątkiem i powiedzieć Annie, że spotkanie jest później.",
            ),
            (
                "id",
                "Silakan kirim formulir ini ke kantor dan beri tahu Anna yang bertugas di sana.",
            ),
            (
                "sw",
                "Tafadhali tuma fomu kwa ofisi kabla ya Ijumaa na umwambie Anna kuhusu mkutano wa leo.",
            ),
            (
                "tl",
                "Pakipadala ang form sa opisina bago mag-Biyernes at sabihin kay Anna na ang pulong ay inilipat.",
            ),
            (
                "ru",
                "Пожалуйста, отправьте форму в офис до пятницы и скажите Анне.",
            ),
            (
                "uk",
                "Будь ласка, надішліть форму до офісу і скажіть Анні, що зустріч перенесено.",
            ),
            ("ja", "金曜日までに用紙を事務所に送ってください。"),
            ("zh", "请在星期五之前把表格寄到办公室。"),
            ("ko", "금요일까지 양식을 사무실로 보내 주세요."),
            ("th", "กรุณาส่งแบบฟอร์มไปที่สำนักงานก่อนวันศุกร์"),
            ("ar", "يرجى إرسال النموذج إلى المكتب قبل يوم الجمعة."),
            (
                "fa",
                "لطفاً فرم را پیش از جمعه به دفتر بفرستید و این را به آنا بگویید.",
            ),
            ("hi", "कृपया शुक्रवार से पहले फ़ॉर्म कार्यालय को भेजें।"),
            ("und", "xyzzy plugh 42"),
            ("und", ""),
        ] {
            assert_eq!(guessed(text), code, "{text}");
        }
    }

    #[test]
    fn every_code_leads_to_its_language() {
        for code in CODES {
            assert_eq!(Language::from_code(code).map(Language::code), Some(code));
        }
        assert_eq!(Language::from_code("xx"), None);
        assert!(CODES.len() < Language::COUNT);
    }
}
