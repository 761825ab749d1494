//! A hash of keys that a stranger cannot steer.
//!
//! `metrics` hashes keys in a known way, so a label's value can be chosen for its hash. The hash
//! here depends on secrets of the recorder: a key gives a polynomial, and its hash is the
//! polynomial's value at a secret point, modulo the prime 2^61 - 1. Different keys give different
//! polynomials. So two keys that were chosen without the secrets have one hash with a probability
//! of `d` in 2^61 at most, where `d` is the degree: the number of the key's words.
//!
//! A text has words of seven bytes, which are coefficients, behind a leading 1. The last word has
//! the other bytes, up to six, and above them one more than their number: no other word is so
//! large, so texts that follow each other stay apart. A label is its name and then its value: two
//! texts. A key is the product of its name and its labels, each plus a second secret. A product is
//! the same in any order, and no other factors have it.

use std::hash::{BuildHasher, RandomState};

use metrics::Key;

/// The modulus.
const PRIME: u64 = (1 << 61) - 1;

/// The bytes of a word.
const WORD: usize = 7;

/// The secret point: its coordinates in words, and in factors.
pub(crate) struct Secret {
    words: u64,
    factors: u64,
}

impl Secret {
    pub(crate) fn random() -> Secret {
        let random = |n: u8| RandomState::new().hash_one(n) % PRIME;
        Secret { words: random(0), factors: random(1) }
    }

    /// Returns the hash of a key: below 2^61, and the same in any order of the labels.
    #[inline]
    pub(crate) fn hash(&self, key: &Key) -> u64 {
        let mut product = self.text(1, key.name()) + self.factors;
        for label in key.labels() {
            let label = self.text(self.text(1, label.key()), label.value());
            product = times(product, label + self.factors);
        }
        product % PRIME
    }

    /// Returns the value of the polynomial of `before` with a text's words as further coefficients.
    #[inline]
    fn text(&self, before: u64, text: &str) -> u64 {
        let (mut value, mut rest) = (before, text.as_bytes());
        while let Some((word, behind)) = rest.split_first_chunk::<WORD>() {
            (value, rest) = (times(value, self.words) + number(word), behind);
        }
        let last = match text.as_bytes().last_chunk() {
            // Without a branch for each length: a shift by a byte, and by those before the rest.
            Some(eight) => u64::from_le_bytes(*eight) >> 8 >> (8 * (WORD - rest.len())),
            None => number(rest),
        };
        let end = (rest.len() as u64 + 1) << (8 * WORD);
        times(value, self.words) + (end | last)
    }
}

/// Returns up to seven bytes as a number.
#[inline]
fn number(bytes: &[u8]) -> u64 {
    let len = bytes.len();
    if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        // Both have the bytes in the middle.
        let [first, last] = [first, last].map(|four| u64::from(u32::from_le_bytes(*four)));
        first | last << (8 * (len - 4))
    } else if let (Some(first), Some(last)) = (bytes.first(), bytes.last()) {
        let at = |place: usize, byte: u8| u64::from(byte) << (8 * place);
        at(0, *first) | at(len / 2, bytes[len / 2]) | at(len - 1, *last)
    } else {
        0
    }
}

/// Returns a product modulo [`PRIME`], or up to 4 more than that. Each factor is at most twice as
/// large as it and 4, so nothing here overflows.
#[inline]
fn times(one: u64, other: u64) -> u64 {
    let product = u128::from(one) * u128::from(other);
    // 2^61 is 1.
    let sum = (product as u64 & PRIME) + (product >> 61) as u64;
    (sum & PRIME) + (sum >> 61)
}

#[cfg(test)]
pub(crate) mod chosen {
    //! Keys that were searched for, in a minute: all have one hash of the facade's.

    use metrics::{Key, Label};

    const VALUES: [[u32; 4]; 32] = [
        [1_488_643, 273_431, 679_115, 2_748_622],
        [3_622_537, 481_156, 810_871, 408_175],
        [3_907_234, 4_012_653, 1_138_948, 2_688_346],
        [46_914, 981_465, 2_872_257, 1_716_410],
        [3_804_896, 611_294, 3_738_576, 4_167_177],
        [1_155_736, 2_994_106, 3_952_797, 2_064_666],
        [3_248_924, 765_471, 1_153_694, 1_283_350],
        [1_572_422, 1_815_187, 2_317_117, 2_429_344],
        [633_646, 2_092_967, 1_486_266, 1_129_531],
        [1_409_318, 2_196_693, 3_218_578, 1_170_165],
        [2_205_612, 164_468, 84_968, 2_450_787],
        [1_615_384, 662_003, 109_531, 1_846_782],
        [2_095_589, 4_154_344, 648_401, 1_065_637],
        [2_811_380, 534_207, 972_654, 2_879_033],
        [3_809_237, 3_643_247, 1_750_289, 26_611],
        [2_677_997, 199_677, 1_946_252, 2_587_480],
        [2_141_461, 3_767_921, 3_356_364, 537_939],
        [2_856_742, 2_313_323, 502_137, 2_923_935],
        [1_115_688, 2_873_148, 889_583, 1_208_819],
        [4_058_605, 1_125_647, 2_843_122, 2_539_290],
        [1_804_182, 1_639_885, 3_377_395, 222_944],
        [566_459, 3_068_643, 3_747_035, 3_971_962],
        [3_831_447, 3_728_541, 3_971_550, 1_740_014],
        [2_066_048, 271_770, 1_864_583, 1_653_989],
        [2_541_929, 2_068_879, 1_938_282, 3_246_224],
        [533_551, 1_815_490, 2_943_573, 125_561],
        [687_331, 2_001_369, 283_776, 970_844],
        [2_919_971, 1_686_960, 768_241, 3_234_085],
        [636_713, 37_167, 1_358_406, 2_005_536],
        [3_065_859, 528_072, 2_632_083, 2_539_765],
        [3_039_954, 350_239, 2_822_948, 2_094_372],
        [265_083, 3_355_561, 1_526_574, 3_703_509],
    ];

    /// Returns the keys.
    pub(crate) fn keys() -> impl Iterator<Item = Key> {
        VALUES.iter().map(|values| {
            let labels = ["a", "b", "c", "d"].into_iter().zip(values);
            let labels = labels.map(|(name, value)| Label::new(name, value.to_string()));
            Key::from_parts("x", labels.collect::<Vec<_>>())
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use metrics::Label;
    use proptest::prelude::*;

    use super::*;

    fn key(name: &str, labels: &[(&str, &str)]) -> Key {
        let label =
            |(name, value): &(&str, &str)| Label::new((*name).to_owned(), (*value).to_owned());
        Key::from_parts(name.to_owned(), labels.iter().map(label).collect::<Vec<_>>())
    }

    #[test]
    fn keys_of_the_same_letters_have_hashes_of_their_own() {
        let secret = Secret::random();
        let keys = [
            key("", &[]),
            key("\0", &[]),
            key("\0\0\0\0\0\0\0", &[]),
            key("\0\0\0\0\0\0\0\0", &[]),
            key("ab", &[]),
            key("a", &[("b", "")]),
            key("a", &[("", "b")]),
            key("", &[("a", "b")]),
            key("", &[("ab", "")]),
            key("", &[("", "ab")]),
            key("x", &[("a", "1"), ("b", "2")]),
            key("x", &[("a", "2"), ("b", "1")]),
            key("x", &[("a", "1"), ("b", "1")]),
            key("x", &[("a", "2"), ("b", "2")]),
            key("x", &[("a", "1"), ("a", "1")]),
            key("x", &[("a", "1")]),
            key("a", &[("x", "1")]),
            key("1", &[("x", "a")]),
            key("seven_l", &[("etters_", "ofthese")]),
            key("seven_letters_", &[("ofthese", "")]),
            key("seven_l", &[("etters_ofthese", "")]),
            key("seven_l", &[("", "etters_ofthese")]),
        ];
        let hashes: HashSet<u64> = keys.iter().map(|key| secret.hash(key)).collect();
        assert_eq!(hashes.len(), keys.len());
        assert!(hashes.iter().all(|hash| *hash < PRIME));
        let other = Secret::random();
        assert!(keys.iter().all(|key| !hashes.contains(&other.hash(key))), "a secret counts");
    }

    #[test]
    fn keys_of_one_hash_of_the_facade_have_hashes_of_their_own() {
        let facade: HashSet<u64> = chosen::keys().map(|key| key.get_hash()).collect();
        assert_eq!(facade.len(), 1, "they are chosen for another hash than the facade's");
        let secret = Secret::random();
        let hashes: HashSet<u64> = chosen::keys().map(|key| secret.hash(&key)).collect();
        assert_eq!(hashes.len(), chosen::keys().count());
    }

    #[test]
    fn the_last_word_of_a_text_is_its_last_bytes() {
        let secret = Secret { words: 1 << 60, factors: 0 };
        for len in 0..30 {
            let text: String = ('a'..='z').cycle().take(len).collect();
            let (words, rest) = text.as_bytes().split_at(len - len % WORD);
            let whole =
                |bytes: &[u8]| bytes.iter().rfold(0, |all, byte| all << 8 | u64::from(*byte));
            let mut value = 1;
            for word in words.chunks(WORD) {
                value = times(value, secret.words) + whole(word);
            }
            let end = (rest.len() as u64 + 1) << 56 | whole(rest);
            assert_eq!(secret.text(1, &text), times(value, secret.words) + end, "{text}");
        }
    }

    #[test]
    fn products_are_right_at_the_ends_of_their_range() {
        let ends = [0, 1, 2, PRIME - 1, PRIME, PRIME + 1, PRIME + 4, 2 * PRIME + 3, 2 * PRIME + 4];
        for (one, other) in ends.iter().flat_map(|one| ends.map(|other| (*one, other))) {
            let product = times(one, other);
            let right = u128::from(one) * u128::from(other) % u128::from(PRIME);
            assert!(product <= PRIME + 4, "{one} {other}");
            assert_eq!(u128::from(product % PRIME), right, "{one} {other}");
        }
    }

    proptest! {
        #[test]
        fn equal_keys_have_one_hash(
            name in "\\PC{0,30}",
            mut labels in prop::collection::vec(("\\PC{0,20}", "\\PC{0,20}"), 0..6),
            by in 0..6_usize,
        ) {
            let made = |labels: &[(String, String)]| {
                let labels = labels.iter().map(|(name, value)| Label::new(name.clone(), value.clone()));
                Key::from_parts(name.clone(), labels.collect::<Vec<_>>())
            };
            let (secret, one) = (Secret::random(), made(&labels));
            let len = labels.len().max(1);
            labels.rotate_left(by % len);
            prop_assert_eq!(secret.hash(&one), secret.hash(&made(&labels)));
        }
    }
}
