//! Constants of the maps to BLS12-381's groups and of their endomorphisms.
//!
//! The isogenies of RFC 9380's suites for BLS12-381 (sections 8.8.1 and 8.8.2; the rational maps of appendices E.2 and
//! E.3 follow from the kernels).
//!
//! With h the product of `x - x(P)` over the points P of the kernel up to sign, d of them, s the sum of the `x(P)`, and
//! `f = x^3 + A' x + B'`, the normalised isogeny of degree l = 2d + 1 is `(X, y X')` with
//! `X = l x - 2 s - 2 f' h'/h - 4 f (h'/h)'` (Kohel, "Endomorphism rings of elliptic curves over finite fields", 1996,
//! section 2.4). The RFC's isogeny is its composition with `(x, y) -> (c^2 x, c^3 y)`, c = 1/11 for G1 and -1/3 for G2.

use crate::{Generated, bls12_381, prime_field::Montgomery};
use num_bigint::BigInt;

/// The coefficients A' and B' of the curve isogenous to G1's, and Z.
const G1_CURVE: [&str; 3] = [
    "144698a3b8e9433d693a02c96d4982b0ea985383ee66a8d8e8981aefd881ac98936f8da0e0f97f5cf428082d584c1d",
    "12e2908d11688030018b12e8753eee3b2016c1f0f24f4070a0b9c14fcef35ef55a23215a316ceaa5d1cc48e98e172be0",
    "b",
];

/// The polynomial of the kernel, the constant coefficient first: the root of `x_den` in appendix E.2.
const G1_KERNEL: [&str; 6] = [
    "133341fb0962a34cb0504a9c4fada0a5090d38679b4c040d5d1c3afb023a3409fcc0815fea66d8b02bbef9c8b5a66e07",
    "0264908af037bcede00d054cf5d4775e83eb6cf63c76b969f8ed174fb59fcff78d201f46f6cfc4ed6552e59ce75177b0",
    "1335c502c1f54c49aceea65e87fd7203ba0f626f305fc0cfd606a5dae9f3c8e81a4b3b69600129fabd307c69bf319d39",
    "094440f65f408a6e930e16e3e92dd17bf60d6e9679a8d3d58593de55ac23703042d609537eb3549aac234d896ca82944",
    "04afe09d5cf4956a23b6b71f59d2b3407b415a774b7be81bbb6fa99cbc798e0ac98ba725a5bc328016b1c268b4766e85",
    "1",
];

/// As [`G1_CURVE`], constant coefficient and coefficient of u: 240 u, 1012 (1 + u), -(2 + u).
const G2_CURVE: [[i32; 2]; 3] = [[0, 240], [1012, 1012], [-2, -1]];

/// The polynomial of the kernel: x + 6 - 6u.
const G2_KERNEL: [[i32; 2]; 2] = [[6, -6], [1, 0]];

/// An element of Fq2; G1's have no second coefficient.
type Element = [BigInt; 2];

/// A polynomial, the constant coefficient first.
type Polynomial = Vec<Element>;

/// Polynomials modulo p.
pub(crate) struct Ring {
    pub(crate) p: BigInt,
}

impl Ring {
    fn sum(&self, terms: &[(i32, Polynomial)]) -> Polynomial {
        let length = terms.iter().map(|(_, term)| term.len()).max().unwrap_or(0);
        let mut sum = vec![Element::default(); length];
        for (factor, term) in terms {
            for (sum, coefficient) in sum.iter_mut().zip(term) {
                for i in 0..2 {
                    sum[i] = (&sum[i] + *factor * &coefficient[i]) % &self.p;
                }
            }
        }
        let zero = |coefficient: &Element| coefficient.iter().all(|c| *c == BigInt::ZERO);
        while sum.last().is_some_and(zero) {
            sum.pop();
        }
        sum
    }

    fn product(&self, a: &[Element], b: &[Element]) -> Polynomial {
        let mut product = vec![Element::default(); a.len() + b.len() - 1];
        for (i, [a0, a1]) in a.iter().enumerate() {
            for (j, [b0, b1]) in b.iter().enumerate() {
                let [c0, c1] = &mut product[i + j];
                *c0 = (&*c0 + a0 * b0 - a1 * b1) % &self.p;
                *c1 = (&*c1 + a0 * b1 + a1 * b0) % &self.p;
            }
        }
        product
    }

    pub(crate) fn power(&self, base: &Element, exponent: &BigInt) -> Element {
        let mut power = [BigInt::from(1), BigInt::ZERO];
        for bit in (0..exponent.bits()).rev() {
            let square = self.product(&[power.clone()], &[power]);
            let square =
                if exponent.bit(bit) { self.product(&square, std::slice::from_ref(base)) } else { square };
            [power] = square.try_into().expect("a constant");
        }
        power
    }

    fn inverse(&self, [a, b]: &Element) -> Element {
        let norm = (a * a + b * b).modinv(&self.p).expect("not zero");
        [a * &norm, -b * norm]
    }

    fn derivative(&self, a: &[Element]) -> Polynomial {
        (1..a.len()).map(|i| a[i].each_ref().map(|c| c * i)).collect()
    }

    /// The numerators over h^2 and h^3 of the isogeny's coordinates x and y/y.
    fn isogeny(&self, [a, b]: [&Element; 2], h: &[Element], c: &BigInt) -> [Polynomial; 2] {
        let product = |a: &[Element], b: &[Element]| self.product(a, b);
        let one = [BigInt::from(1), BigInt::ZERO];
        let f = [b.clone(), a.clone(), Element::default(), one];
        let (h1, h2) = (self.derivative(h), self.derivative(&self.derivative(h)));
        let degree = h.len() - 1;
        let minus_sum = &h[degree - 1];
        let linear = vec![minus_sum.each_ref().map(|c| 2 * c), [(2 * degree + 1).into(), BigInt::ZERO]];
        let log_derivative = self.sum(&[(1, product(&h2, h)), (-1, product(&h1, &h1))]);
        let x = self.sum(&[
            (1, product(&product(h, h), &linear)),
            (-2, product(&product(&self.derivative(&f), &h1), h)),
            (-4, product(&f, &log_derivative)),
        ]);
        let y = self.sum(&[(1, product(&self.derivative(&x), h)), (-2, product(&x, &h1))]);
        let power = |exponent| vec![[c.pow(exponent), BigInt::ZERO]];
        [product(&x, &power(2)), product(&y, &power(3))]
    }
}

/// The constants of one group, with names that begin with `prefix`. Writes the first `width` coefficients of each element.
fn group(prefix: &str, width: usize, curve: &[Element], h: &[Element], c: &BigInt) -> String {
    let ring = Ring { p: bls12_381::base() };
    let fq = Montgomery::new(&ring.p);
    let flat = |polynomial: &[Element]| -> Vec<BigInt> {
        polynomial.iter().flat_map(|element| element[..width].to_vec()).collect()
    };
    let [x, y] = ring.isogeny([&curve[0], &curve[1]], h, c);
    let tables = [
        ("CURVE", "A', B' of the isogenous curve, and Z", flat(curve)),
        ("KERNEL", "h", flat(h)),
        ("X", "The numerator of x, over h^2", flat(&x)),
        ("Y", "The numerator of y/y', over h^3", flat(&y)),
    ];
    let table = |(name, comment, values): (&str, &str, Vec<BigInt>)| {
        format!("/// {prefix}: {comment}.\n") + &fq.elements(&format!("{prefix}_{name}"), &values)
    };
    tables.map(table).concat()
}

pub(crate) fn constants() -> Generated {
    let p = bls12_381::base();
    let inverse = |a: i32| BigInt::from(a).modinv(&p).expect("p is prime");
    let hexadecimal = |digits: &str| BigInt::parse_bytes(digits.as_bytes(), 16).expect("hexadecimal digits");
    let real = |digits: &str| [hexadecimal(digits), BigInt::ZERO];
    let pair = |element: [i32; 2]| element.map(BigInt::from);
    let fq = Montgomery::new(&p);
    // p is 3 mod 4: a power of a square is its root. -Z and, for G2, the negative of Z's norm 5 are squares.
    let root = |square: i32| {
        let square = BigInt::from(square) + &p;
        let root = square.modpow(&((&p + 1) / 4), &p);
        assert_eq!(&root * &root % &p, square, "a square");
        root
    };
    let ring = Ring { p: p.clone() };
    let psi = [3, 2].map(|divisor| ring.inverse(&ring.power(&pair([1, 1]), &((&p - 1) / divisor))));
    let text = [
        "//! Constants of the maps to BLS12-381's groups and of their endomorphisms, in Montgomery form: polynomials with\n\
         //! the constant coefficient first, over Fq2 as pairs. Limbs are 64 bits, least significant first.\n\
         //! @generated by tools/constgen; do not edit.\n\n\
         /// The cube root of unity by which phi multiplies x: phi multiplies points of G1 by -x^2, x the parameter.\n"
            .to_owned(),
        // The one of the two roots that the tests confirm.
        fq.element("BETA", &BigInt::from(2).modpow(&((&p - 1) / 3), &p)),
        "/// The factors of the conjugate coordinates in psi: (1 + u)^(-(p - 1)/3) for x and (1 + u)^(-(p - 1)/2) for y.\n"
            .to_owned(),
        fq.elements("PSI", &psi.concat()),
        "/// G1: a square root of -Z.\n".to_owned(),
        fq.element("G1_ROOT", &root(-11)),
        "/// G2: a square root of the negative of Z's norm.\n".to_owned(),
        fq.element("G2_ROOT", &root(-5)),
        group("G1", 1, &G1_CURVE.map(real), &G1_KERNEL.map(real), &inverse(11)),
        group("G2", 2, &G2_CURVE.map(pair), &G2_KERNEL.map(pair), &inverse(-3)),
    ]
    .concat();
    Generated { path: "crates/curve/src/bls12_381/map_constants.rs", text }
}
