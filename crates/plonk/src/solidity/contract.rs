//! The contract of a PLONK key.

use super::{
    function::{CalldataLayout, HashInput, PointSource, VerifierFunction, memory::*},
    trace::{InputWord, Traced, record},
    yul::{Compiled, compile},
};
use crate::{
    Cell, Column, VerifyingKey,
    arithmetisation::{
        linearisation::{Linearisation, VerifierValues},
        summand::{Challenges, FormulaParameters},
    },
};
use proofmill_curve::{Curve, bn254::G1};
use proofmill_field::{Algebra, bn254::Fr};
use proofmill_solidity::literal;

/// Challenges that only PLONK has.
const ETA: usize = 0x80;
const DELTA: usize = 0xe0;
const EPSILON: usize = 0x100;
const V: usize = 0x160;
const U: usize = 0x180;

/// A contract under construction.
pub(super) struct Contract<'a> {
    key: &'a VerifyingKey,
    /// The witness columns, in the order of their commitments.
    rounds: [Vec<Column>; 3],
    program: Compiled,
    /// The columns in the sum of points; their factors are the first roots of the program.
    columns: Vec<Column>,
    arguments: CalldataLayout,
    function: VerifierFunction,
}

impl<'a> Contract<'a> {
    pub(super) fn new(key: &'a VerifyingKey) -> Self {
        let rounds = key.system.rounds();
        let points = rounds.iter().map(Vec::len).sum::<usize>() + key.system.parts() + 2;
        let values = CalldataLayout::point(points);
        let public = values + 32 * key.system.opened().len();
        let arguments = CalldataLayout { values, public, count: key.public as usize, log_n: key.log_n };
        let ((columns, roots), nodes) = record(|| factors(key, &arguments));
        let program = compile(&nodes, &roots, VALUES);
        Self { key, rounds, program, columns, arguments, function: VerifierFunction::new(arguments) }
    }

    fn witness_columns(&self) -> usize {
        self.rounds.iter().map(Vec::len).sum()
    }

    /// The index of Wxi; Wxiw is the next and last one.
    fn opening(&self) -> usize {
        self.witness_columns() + self.key.system.parts()
    }

    /// The source of the contract.
    pub(super) fn source(mut self) -> String {
        self.draw_challenges();
        self.evaluate_public_inputs();
        self.function.line("// The formulas of the circuit's constraints, at xi.");
        let statements = std::mem::take(&mut self.program.statements);
        statements.into_iter().for_each(|line| self.function.line(line));
        self.add_points();
        self.function.pair(self.key.tau);
        let (comment, insecurity) = (self.comment(), self.key.insecurity());
        self.function.source("PLONK", "uint256", comment, insecurity)
    }

    /// The comment that describes the first argument.
    fn comment(&self) -> Vec<String> {
        let columns = self.rounds.iter().flatten().map(Column::to_string);
        let parts = (1..=self.key.system.parts()).map(|part| format!("t{part}"));
        let points: Vec<String> = columns.chain(parts).chain(["Wxi".into(), "Wxiw".into()]).collect();
        let value = |cell: &Cell| format!("{}{}", cell.column, if cell.next { "'" } else { "" });
        let values: Vec<String> = self.key.system.opened().iter().map(value).collect();
        vec![
            "The first argument is a proof: two words x, y for each of the points".to_owned(),
            points.join(" "),
            "and then the values, at xi or (') at xi omega, of".to_owned(),
            values.join(" "),
        ]
    }

    fn challenge(&mut self, target: usize, parts: impl IntoIterator<Item = HashInput>) {
        self.function.challenge(self.program.end, target, parts);
    }

    /// Draws the challenges, from the same bytes as in [`Challenges`].
    fn draw_challenges(&mut self) {
        let key = self.key;
        let standard = key.system.is_standard();
        let [first, second, third] = [0, 1, 2].map(|round| self.round(round));
        let points = |begin: usize, count: usize| HashInput::Calldata { begin, length: 64 * count };
        let stored = HashInput::stored;
        let of_key = if standard {
            HashInput::constants(&key.fixed)
        } else {
            vec![HashInput::Word(literal(key.digest()))]
        };
        self.function.line("// The challenges.");
        let has_lookups = key.system.lookup().is_some();
        let before_first = of_key.into_iter().chain([self.arguments.public_inputs(), first]);
        self.challenge(if has_lookups { ETA } else { BETA }, before_first);
        if has_lookups {
            self.challenge(BETA, [stored(ETA), second]);
        }
        self.challenge(GAMMA, [stored(BETA)]);
        let mut drawn = vec![stored(BETA), stored(GAMMA)];
        if has_lookups {
            self.challenge(DELTA, [stored(GAMMA)]);
            self.challenge(EPSILON, [stored(DELTA)]);
            drawn.extend([stored(DELTA), stored(EPSILON)]);
        }
        self.challenge(ALPHA, drawn.into_iter().chain([third]));
        let parts = points(CalldataLayout::point(self.witness_columns()), key.system.parts());
        self.challenge(XI, [stored(ALPHA), parts]);
        let length = 32 * key.system.opened().len();
        let values = HashInput::Calldata { begin: self.arguments.values, length };
        self.challenge(V, [stored(XI), values]);
        let openings = points(CalldataLayout::point(self.opening()), 2);
        let before = (!standard).then(|| stored(V));
        self.challenge(U, before.into_iter().chain([openings]));
    }

    /// The commitments of a round.
    fn round(&self, round: usize) -> HashInput {
        let before = self.rounds.iter().take(round).map(Vec::len).sum();
        let count = self.rounds.get(round).map_or(0, Vec::len);
        HashInput::Calldata { begin: CalldataLayout::point(before), length: 64 * count }
    }

    fn evaluate_public_inputs(&mut self) {
        let exponent = literal(-Fr::from(2));
        let operands: Vec<String> = ["0x20", "0x20", "0x20", "product", exponent.as_str(), "r"]
            .iter()
            .enumerate()
            .map(|(index, value)| format!("mstore({:#x}, {value})", PAIRS + 32 * index))
            .collect();
        let invert = format!(
            "{}
            valid := staticcall(gas(), 5, {PAIRS:#x}, 0xc0, {PAIRS:#x}, 0x20)
            valid := and(valid, iszero(iszero(vanishing)))",
            operands.join("\n")
        );
        self.function.evaluate_public_inputs(self.program.end, Vec::new(), &invert);
    }

    /// Computes the two sums of points.
    fn add_points(&mut self) {
        let key = self.key;
        let openings = [self.opening(), self.opening() + 1]
            .map(|index| PointSource::Calldata(CalldataLayout::point(index)));
        let [opening, shifted_opening] = &openings;
        let function = &mut self.function;
        function.line("// Both openings: Wxi + u Wxiw, and what they are of.");
        function.declare_sums();
        function.clear_sum();
        function.add_point(opening, "1");
        function.add_point(shifted_opening, &format!("mload({U:#x})"));
        function.move_sum(PAIRS);
        function.clear_sum();
        let witness: Vec<Column> = self.rounds.iter().flatten().copied().collect();
        let source = |column: &Column| match witness.iter().position(|other| other == column) {
            Some(index) => PointSource::Calldata(CalldataLayout::point(index)),
            None => PointSource::Constant(key.commitment(*column)),
        };
        let mut sources: Vec<PointSource> = self.columns.iter().map(source).collect();
        let parts = witness.len()..witness.len() + key.system.parts();
        sources.extend(parts.map(|index| PointSource::Calldata(CalldataLayout::point(index))));
        sources.extend(openings);
        sources.push(PointSource::Constant(G1::GENERATOR));
        for (source, factor) in sources.iter().zip(&self.program.roots) {
            function.add_point(source, factor);
        }
        function.move_sum(PAIRS + 192);
    }
}

/// The factors of the points in the sum that the pairing checks, as traced values. The points are the
/// columns, the quotient's parts, Wxi, Wxiw and the generator, as in [`verify`](crate::verify).
fn factors(key: &VerifyingKey, arguments: &CalldataLayout) -> (Vec<Column>, Vec<Traced>) {
    let system = &key.system;
    let in_memory = |byte| Traced::input(InputWord::Memory(byte));
    let [xi, v, u, eta] = [XI, V, U, ETA].map(in_memory);
    let evaluations: Vec<Traced> = (0..system.opened().len())
        .map(|index| Traced::input(InputWord::Calldata(arguments.values + 32 * index)))
        .collect();
    let known = VerifierValues {
        xi,
        xi_n: in_memory(XI_N),
        first_lagrange: in_memory(FIRST_LAGRANGE),
        public_input: in_memory(PUBLIC_INPUT),
    };
    let linearisation = Linearisation::of_values(system, &parameters(key), known, &evaluations);
    let Linearisation { columns, quotient, constant } =
        linearisation.with_openings(system, &evaluations, v, u, eta);
    let root = Traced::constant(arguments.root());
    let (columns, factors): (Vec<Column>, Vec<Traced>) = columns.into_iter().unzip();
    let all = factors.into_iter().chain(quotient).chain([xi, u * xi * root, constant]);
    (columns, all.collect())
}

/// The parameters of the formulas, with challenges from memory.
fn parameters(key: &VerifyingKey) -> FormulaParameters<Traced> {
    // Provides the constants and the number of powers.
    let pattern = key.system.parameters(&Challenges::default(), key.multipliers);
    let [eta, beta, gamma, delta, epsilon, alpha] =
        [ETA, BETA, GAMMA, DELTA, EPSILON, ALPHA].map(|byte| Traced::input(InputWord::Memory(byte)));
    let powers = std::iter::successors(Some(Traced::one(())), |power| Some(*power * alpha));
    let powers = powers.take(pattern.alpha.len()).collect();
    FormulaParameters {
        beta,
        gamma,
        beta_multipliers: key.multipliers.map(|multiplier| beta * Traced::constant(multiplier)),
        eta,
        delta,
        epsilon,
        alpha: powers,
        ..pattern.map(Traced::constant)
    }
}
