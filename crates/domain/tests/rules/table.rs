//! Prints a matrix as aligned text, to be compared as a whole.

use std::fmt::Write;

/// The table with `corner` over the row names, a column per heading, and the
/// cell that `cell` gives for each row and column.
pub(crate) fn table<R: Copy, C: Copy>(
    corner: &str,
    rows: &[(String, R)],
    columns: &[(String, C)],
    cell: impl Fn(R, C) -> String,
) -> String {
    let mut lines = vec![
        std::iter::once(corner.to_owned())
            .chain(columns.iter().map(|(name, _)| name.clone()))
            .collect::<Vec<_>>(),
    ];
    for (name, row) in rows {
        let cells = columns.iter().map(|(_, column)| cell(*row, *column));
        lines.push(std::iter::once(name.clone()).chain(cells).collect());
    }
    let widths: Vec<usize> = (0..=columns.len())
        .map(|column| {
            lines
                .iter()
                .map(|line| line[column].len())
                .max()
                .unwrap_or(0)
        })
        .collect();
    let mut text = String::new();
    for line in lines {
        let mut printed = String::new();
        for (cell, width) in line.iter().zip(&widths) {
            let _ = write!(printed, "{cell:width$}  ");
        }
        text.push_str(printed.trim_end());
        text.push('\n');
    }
    text
}

/// Words as rows or columns, under their spelling.
pub(crate) fn named<W: workforce_domain::string_enum::StringEnum>() -> Vec<(String, W)> {
    W::ALL
        .iter()
        .map(|word| (word.as_str().to_owned(), *word))
        .collect()
}
