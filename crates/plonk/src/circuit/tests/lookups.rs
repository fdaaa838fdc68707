//! Tables and lookups in them.

use super::*;
use std::sync::Arc;

fn rows(rows: &[[u64; 3]]) -> Arc<[[Fr; 3]]> {
    rows.iter().map(|row| row.map(Fr::from)).collect()
}

/// A circuit with one lookup of three values.
fn one_lookup(table: &[[u64; 3]], values: [u64; 3]) -> Circuit {
    let mut circuit = Circuit::new(Arithmetisation::Ultra);
    let number = circuit.table("table", || rows(table));
    let wires = values.map(|value| circuit.witness(Fr::from(value)));
    circuit.lookup(number, wires, [Fr::ZERO; 3]);
    circuit
}

#[test]
fn values_are_those_of_a_row() {
    let table = [[1, 2, 3], [4, 5, 6], [4, 5, 6], [0, 0, 7]];
    for row in table {
        one_lookup(&table, row).check().expect("a row of the table");
    }
    for wrong in [[1, 2, 4], [1, 5, 6], [7, 2, 3], [0, 0, 0], [4, 5, 3]] {
        let unsatisfied = one_lookup(&table, wrong).check().expect_err("no row of the table");
        let expected = Unsatisfied::Lookup {
            row: 0,
            gadget: None,
            table: Fr::ONE,
            name: Some("table".to_owned()),
            tuple: Box::new(wrong.map(Fr::from)),
        };
        assert_eq!(unsatisfied, expected);
    }
    let unsatisfied = one_lookup(&table, [1, 2, 4]).check().expect_err("no row of the table");
    assert_eq!(unsatisfied.to_string(), "row 0: table \"table\" has no row of the values looked up");
    assert_eq!(format!("{unsatisfied:#}"), "row 0: table \"table\" has no row (1, 2, 4)");
}

#[test]
fn an_empty_table_has_no_rows() {
    for values in [[0, 0, 0], [1, 2, 3]] {
        let circuit = one_lookup(&[], values);
        assert!(matches!(circuit.check(), Err(Unsatisfied::Lookup { .. })));
        assert_eq!(circuit.layout().table_rows(), 0);
    }
}

#[test]
fn a_table_may_be_larger_than_the_circuit() {
    let table: Vec<_> = (0..1000).map(|i| [i, i * i, 0]).collect();
    let circuit = one_lookup(&table, [31, 961, 0]);
    circuit.check().expect("a row of the table");
    let layout = circuit.layout();
    assert_eq!((layout.rows(), layout.table_rows()), (2, 1000), "the lookup and the constant zero");
    assert!(!layout.fixed.contains_key(&Column::TableColumn(2)), "a column of zeros");
}

#[test]
fn tables_are_distinguished_and_laid_out_if_used() {
    let mut circuit = Circuit::new(Arithmetisation::Ultra);
    let tables = [0, 1, 2].map(|i| circuit.table(&format!("table {i}"), || rows(&[[i, i, i], [9, i, 0]])));
    assert_eq!(circuit.table("table 1", || unreachable!("made before")), tables[1]);
    assert_eq!(circuit.layout().table_rows(), 0, "no lookups");
    assert_eq!(circuit.table_of(tables[2]).name(), "table 2");
    let two = circuit.constant(Fr::from(2));
    circuit.lookup(tables[2], [two; 3], [Fr::ZERO; 3]);
    circuit.check().expect("a row of the last table");
    let layout = circuit.layout();
    let numbers = &layout.fixed[&Column::TableColumn(3)];
    assert_eq!(*numbers, [Fr::from(3); 2], "the others have no lookups");
    let [used] = &circuit.report().tables[..] else { panic!("one table is used") };
    assert_eq!((used.name.as_str(), used.rows, used.lookups), ("table 2", 2, 1));
    circuit.lookup(tables[1], [two; 3], [Fr::ZERO; 3]);
    let Err(Unsatisfied::Lookup { row: 1, table, .. }) = circuit.check() else {
        panic!("another table's row")
    };
    assert_eq!(table, Fr::from(2));
}

#[test]
fn values_may_include_the_next_row() {
    let [three, five] = [3, 5].map(Fr::from);
    let mut circuit = Circuit::new(Arithmetisation::Ultra);
    let [w1, w2, w3, w4] = [2, 3, 4, 7].map(|value| circuit.witness(Fr::from(value)));
    let square = Fr::from(49);
    let (v1, v2) = (Fr::from(2) + three * Fr::from(5), Fr::from(3) + three * Fr::from(5) - square);
    let v3 = Fr::from(4) + five * Fr::from(6) + Fr::from(7) * (square - Fr::from(6) - Fr::from(5));
    let number = circuit.table("points", || Arc::new([[v1, v2, v3]]));
    circuit.lookup_with(number, [w1, w2, w3, w4], [three, three, five], &[]);
    let [n1, n2, n3] = [5, 5, 6].map(|value| circuit.witness(Fr::from(value)));
    circuit.row([n1, n2, n3, Variable::NONE], &[]);
    circuit.check().expect("the table's row");
    let layout = circuit.layout();
    for variable in [w1, w2, w3, w4, n1, n2, n3] {
        let mut values = circuit.values().to_vec();
        values[variable.index()] += Fr::ONE;
        assert!(matches!(check_layout(&layout, &values), Err(Unsatisfied::Lookup { row: 0, .. })));
    }
}

#[test]
#[should_panic(expected = "turbo has no lookups")]
fn other_arithmetisations_have_no_lookups() {
    let mut circuit = Circuit::new(Arithmetisation::Turbo);
    let number = circuit.table("table", || rows(&[[1, 2, 3]]));
    let zero = circuit.zero();
    circuit.lookup(number, [zero; 3], [Fr::ZERO; 3]);
}

#[test]
fn table_sizes_choose_the_rows() {
    for (bits, lookups) in [(4, 8), (8, 4), (13, 3), (16, 2)] {
        let circuit = satisfied(Arithmetisation::Ultra, |circuit| {
            circuit.set_range_table_bits(bits);
            let variable = circuit.witness(Fr::from(0xdead_beef));
            circuit.range(variable, 32);
        });
        assert_eq!(circuit.report().tables.iter().map(|table| table.lookups).sum::<u64>(), lookups);
    }
    for (bits, lookups) in [(1, 32), (4, 8), (8, 4)] {
        let circuit = satisfied(Arithmetisation::Ultra, |circuit| {
            circuit.set_logic_table_bits(bits);
            let [a, b] = [0xdead_beef, 0x1234_5678].map(|value| circuit.witness(Fr::from(value)));
            circuit.xor(a, b, 32);
        });
        assert_eq!(circuit.report().tables.iter().map(|table| table.lookups).sum::<u64>(), lookups);
    }
}

#[test]
fn a_table_with_the_name_of_a_built_in_one_is_separate() {
    let mut circuit = Circuit::new(Arithmetisation::Ultra);
    let own = circuit.table("range 13", || rows(&[[1 << 20, 0, 0]]));
    let variable = circuit.witness(Fr::from(1 << 20));
    circuit.range(variable, 13);
    assert!(matches!(circuit.check(), Err(Unsatisfied::Lookup { row: 0, .. })), "not the table of numbers");
    let zero = circuit.zero();
    circuit.lookup(own, [variable, zero, zero], [Fr::ZERO; 3]);
    assert_eq!(all_unsatisfied(&circuit.layout(), circuit.values()).len(), 1, "the range alone");
}
