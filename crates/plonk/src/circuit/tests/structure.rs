//! Rows, scopes and reports.

use super::*;

#[test]
fn public_inputs_come_first_and_constants_last() {
    for arithmetisation in Arithmetisation::ALL {
        let mut circuit = Circuit::new(arithmetisation);
        let a = circuit.public_input(Fr::from(5));
        let seven = circuit.constant(Fr::from(7));
        assert_eq!(circuit.constant(Fr::from(7)), seven);
        let product = circuit.mul(a, seven);
        circuit.publish(product);
        circuit.check().expect("satisfied");
        let layout = circuit.layout();
        let product = product.index() as u32;
        assert_eq!(
            layout.variables_of[0],
            [a.index() as u32, product, a.index() as u32, seven.index() as u32]
        );
        assert_eq!(layout.public, 2);
        assert_eq!(layout.fixed[&Column::Selector(Selector::Wire(0))], [1, 1, 0, 1].map(Fr::from));
        let (by_value, values) = circuit.clone().into_layout();
        assert_eq!((by_value, &values[..]), (layout, circuit.values()));
    }
}

#[test]
fn a_wrong_public_input_or_constant_is_found() {
    let mut circuit = Circuit::new(Arithmetisation::Turbo);
    let a = circuit.witness(Fr::from(5));
    let public = circuit.publish(a);
    circuit.gadget("doubling", |circuit| circuit.add(a, a));
    let seven = circuit.constant(Fr::from(7));
    let layout = circuit.layout();
    let mut values = circuit.values().to_vec();
    values[seven.index()] = Fr::from(8);
    assert!(matches!(check_layout(&layout, &values), Err(Unsatisfied::Gate { row: 2, constraint: 0, .. })));
    circuit.values[public.index()] = Fr::from(6);
    assert!(matches!(circuit.check(), Err(Unsatisfied::Equality { .. })));
    circuit.values[a.index()] = Fr::from(6);
    let unsatisfied = circuit.check().expect_err("12 is not 10");
    assert_eq!(
        unsatisfied.to_string(),
        "row 1 in doubling: constraint 0 of gate wide_arithmetic does not hold for w1, w2, w3, w4, w4'"
    );
    assert_eq!(
        format!("{unsatisfied:#}"),
        "row 1 in doubling: constraint 0 of gate wide_arithmetic does not hold with \
         w1 = 6, w2 = 10, w3 = 0, w4 = 0, w4' = 0"
    );
}

#[test]
fn an_open_row_is_shared_if_it_has_room() {
    let gate = [(Column::Selector(Selector::Wire(0)), Fr::ZERO)];
    let mut circuit = Circuit::new(Arithmetisation::Turbo);
    let [a, b] = [1, 2].map(|value| circuit.witness(Fr::from(value)));
    let none = Variable::NONE;
    circuit.row([a, none, none, b], &[]);
    circuit.row([none, a, none, b], &[]);
    assert_eq!(circuit.rows, [[a, a, none, b]], "nothing on either");
    circuit.row([a, none, none, a], &gate);
    assert_eq!(circuit.rows.len(), 2, "another variable on wire 4");
    circuit.row([none; 4], &gate);
    assert_eq!(circuit.rows.len(), 3, "the last row has a gate");
    circuit.row([none, b, none, none], &[]);
    circuit.row([a, none, none, none], &gate);
    assert_eq!(circuit.rows[3..], [[a, b, none, none]]);
}

#[test]
fn scopes_and_rows() {
    let mut circuit = Circuit::new(Arithmetisation::Ultra);
    let a = circuit.witness(Fr::from(3));
    let square = circuit.mul(a, a);
    for _ in 0..2 {
        circuit.gadget("outer", |circuit| {
            circuit.mul(square, a);
            circuit.gadget("inner", |circuit| circuit.range(square, 26));
            circuit.mul(square, square);
        });
    }
    let three = circuit.constant(Fr::from(3));
    circuit.assert_equal(a, three);
    circuit.check().expect("satisfied");
    let report = circuit.report();
    let gadget = |name: &str, depth, rows, lookups| GadgetReport {
        name: name.to_owned(),
        depth,
        calls: 2,
        rows,
        lookups,
    };
    assert_eq!(report.gadgets, [gadget("outer", 0, 8, 4), gadget("inner", 1, 4, 4)]);
    assert_eq!((report.rows, report.public, report.constants), (11, 0, 2));
    let named: Vec<_> = (0..12).map(|row| circuit.gadget_of(row)).collect();
    let [none, outer, inner] = [None, Some("outer".to_owned()), Some("outer > inner".to_owned())];
    let twice = [&outer, &inner, &inner, &outer, &outer, &inner, &inner, &outer];
    let expected: Vec<_> = [&none].into_iter().chain(twice).chain([&none; 3]).cloned().collect();
    assert_eq!(named, expected);
    let table = report.to_string();
    for line in ["ultra: 11 rows (0 public inputs, 2 constants)", "  inner", "range 13"] {
        assert!(table.contains(line), "{line} in {table}");
    }
    circuit.values[square.index()] = Fr::from(1 << 30);
    let unsatisfied = all_unsatisfied(&circuit.layout(), circuit.values());
    assert!(unsatisfied.len() > 1);
    assert!(matches!(circuit.check(), Err(Unsatisfied::Gate { row: 0, gadget: None, .. })));
}

#[test]
#[should_panic(expected = "standard has 3 wires")]
fn a_variable_on_a_missing_wire_panics() {
    let mut circuit = Circuit::new(Arithmetisation::Standard);
    let a = circuit.witness(Fr::ONE);
    circuit.row([a; 4], &[]);
}

#[test]
#[should_panic(expected = "standard has no gate range")]
fn standard_has_no_custom_gates() {
    let switch = Column::Selector(Selector::Gate(Gate::Range));
    Circuit::new(Arithmetisation::Standard).row([Variable::NONE; 4], &[(switch, Fr::ONE)]);
}

#[test]
#[should_panic(expected = "at most 253 bits, found 254")]
fn a_range_wider_than_the_field_panics() {
    let mut circuit = Circuit::new(Arithmetisation::Standard);
    let a = circuit.witness(Fr::ONE);
    circuit.range(a, 254);
}

#[test]
#[should_panic(expected = "expected a variable, found none")]
fn a_term_without_a_variable_panics() {
    let mut circuit = Circuit::new(Arithmetisation::Turbo);
    let a = circuit.witness(Fr::ONE);
    circuit.add(a, Variable::NONE);
}

#[test]
fn names_parse_to_the_variant_that_prints_them() {
    assert!(Arithmetisation::ALL.iter().all(|each| each.to_string().parse() == Ok(*each)));
    assert!(LookupArgument::ALL.iter().all(|each| each.to_string().parse() == Ok(*each)));
    let refused = [
        "Turbo".parse::<Arithmetisation>().expect_err("refused"),
        "".parse::<LookupArgument>().expect_err("refused"),
    ];
    let expected = [
        "expected an arithmetisation (standard, turbo or ultra), found \"Turbo\"",
        "expected a lookup argument (logup or plookup), found \"\"",
    ];
    assert_eq!(refused.map(|error| error.to_string()), expected);
}
