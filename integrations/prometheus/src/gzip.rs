//! Compression of an answer.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::accept::elements;

/// The size of the smallest body that is compressed: less fits into a packet as it is.
const LEAST: usize = 1024;

/// Returns the coding of an answer and its body in it, for a client that prefers gzip.
pub(crate) fn encoded(body: Vec<u8>) -> (Option<&'static str>, Vec<u8>) {
    if body.len() < LEAST {
        return (None, body);
    }
    let mut encoder = GzEncoder::new(Vec::with_capacity(body.len() / 8), Compression::fast());
    let compressed = encoder.write_all(&body).and_then(|()| encoder.finish());
    // A vector takes all bytes; if it ever did not, the plain text is right for all clients.
    compressed.map_or((None, body), |compressed| (Some("gzip"), compressed))
}

/// Returns whether a client accepts gzip, and does not give it less weight than the plain text.
pub(crate) fn is_preferred(accept_encoding: &str) -> bool {
    let weight = |names: &[&str]| {
        let is_one = |name: &str| names.iter().any(|one| name.eq_ignore_ascii_case(one));
        elements(accept_encoding).find(|element| is_one(element.name)).map(|found| found.weight)
    };
    let gzip = weight(&["gzip", "x-gzip"]).or_else(|| weight(&["*"])).unwrap_or(0);
    gzip > 0 && gzip >= weight(&["identity"]).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use flate2::read::GzDecoder;

    use super::*;

    #[test]
    fn clients_that_accept_gzip_get_it() {
        let accept = [
            "gzip",
            "gzip, deflate, br",
            "GZIP;q=0.001",
            "*",
            "*;q=0.1",
            "x-gzip",
            "br,gzip;q=0.5",
            "gzip;q=0.5,identity;q=0.5",
            "identity;q=0,*",
            "gzip;q=0.1,*;q=0",
        ];
        for header in accept {
            assert!(is_preferred(header), "{header:?}");
        }
        let others = [
            "",
            "identity",
            "deflate, br",
            "gzip;q=0",
            "gzip;q=0,*",
            "*;q=0",
            "gzip;q=2",
            "gzip;q=",
            "gzip;q=0.5,identity",
            "gzipped",
            ",;q=1",
            "\"gzip\"",
            "x=\",gzip",
        ];
        for header in others {
            assert!(!is_preferred(header), "{header:?}");
        }
    }

    #[test]
    fn only_bodies_of_a_kibibyte_are_compressed_and_come_back_as_they_were() {
        let body =
            |length| b"shop_requests_total 1\n".iter().copied().cycle().take(length).collect();
        let small: Vec<u8> = body(LEAST - 1);
        assert_eq!(encoded(small.clone()), (None, small));
        for length in [LEAST, 1 << 20] {
            let plain: Vec<u8> = body(length);
            let (coding, compressed) = encoded(plain.clone());
            assert_eq!(coding, Some("gzip"));
            assert!(compressed.len() < length / 5, "{}", compressed.len());
            let mut again = Vec::new();
            GzDecoder::new(&compressed[..]).read_to_end(&mut again).unwrap();
            assert!(again == plain);
        }
    }
}
