//! The operators that show text.

use std::{collections::HashMap, rc::Rc};

use hayro_syntax::{
    content::{Instruction, UntypedIter},
    object::{Dict, Name, Object, Stream},
    page::{Page, Resources},
};

use super::{
    font::Font,
    layout::{Layout, PlacedText},
};

/// Operators of a document.
const OPERATORS: usize = 4_000_000;

/// Depth of forms in forms, and their number in a document.
const DEPTH: usize = 6;
const FORMS: usize = 20_000;

/// Depth of saved graphics states.
const SAVED: usize = 64;

/// A transformation: `[a b c d e f]`.
type Matrix = [f64; 6];

const IDENTITY: Matrix = [1.0, 0.0, 0.0, 1.0, 0.0, 0.0];

/// Reads the content of pages. Fonts are parsed once.
#[derive(Default)]
pub struct ContentReader {
    /// By the place of their dictionaries in the file.
    fonts: HashMap<usize, Rc<Font>>,
    operators: usize,
    forms: usize,
    unknown: usize,
    has_text: bool,
}

#[derive(Clone)]
struct TextState {
    page: Matrix,
    font: Option<Rc<Font>>,
    size: f64,
    character_space: f64,
    word_space: f64,
    scale: f64,
    leading: f64,
    rise: f64,
    text: Matrix,
    line: Matrix,
}

impl ContentReader {
    /// Number of characters that the fonts do not name.
    pub fn unknown(&self) -> usize {
        self.unknown
    }

    pub fn has_no_text(&self) -> bool {
        !self.has_text
    }

    pub fn read(&mut self, page: &Page<'_>, layout: &mut Layout) {
        let state = TextState {
            page: IDENTITY,
            font: None,
            size: 1.0,
            character_space: 0.0,
            word_space: 0.0,
            scale: 1.0,
            leading: 0.0,
            rise: 0.0,
            text: IDENTITY,
            line: IDENTITY,
        };
        self.run(page.operations(), page.resources(), state, layout, 0);
    }

    fn run(
        &mut self,
        mut operations: UntypedIter<'_>,
        resources: &Resources<'_>,
        mut state: TextState,
        layout: &mut Layout,
        depth: usize,
    ) {
        let mut saved: Vec<TextState> = Vec::new();
        while let Some(operation) = operations.next() {
            self.operators += 1;
            if self.operators > OPERATORS {
                return;
            }
            let numbers = || numbers(&operation);
            match &**operation.operator {
                b"q" if saved.len() < SAVED => saved.push(state.clone()),
                b"Q" => {
                    if let Some(before) = saved.pop() {
                        state = before;
                    }
                }
                b"cm" => {
                    if let Some(matrix) = matrix(&numbers()) {
                        state.page = multiply(&matrix, &state.page);
                    }
                }
                b"BT" => (state.text, state.line) = (IDENTITY, IDENTITY),
                b"Tf" => {
                    let mut operands = operation.operands();
                    if let (Some(Object::Name(name)), Some(Object::Number(size))) =
                        (operands.next(), operands.next())
                    {
                        state.font = self.font(resources, name);
                        state.size = size.as_f64();
                    }
                }
                b"Tc" => state.character_space = first(&numbers()),
                b"Tw" => state.word_space = first(&numbers()),
                b"Tz" => state.scale = first(&numbers()) / 100.0,
                b"TL" => state.leading = first(&numbers()),
                b"Ts" => state.rise = first(&numbers()),
                b"Td" => state.next_line(&numbers()),
                b"TD" => {
                    let by = numbers();
                    state.leading = -by.get(1).copied().unwrap_or_default();
                    state.next_line(&by);
                }
                b"Tm" => {
                    if let Some(matrix) = matrix(&numbers()) {
                        (state.text, state.line) = (matrix, matrix);
                    }
                }
                b"T*" => state.next_line(&[0.0, -state.leading]),
                b"Tj" => self.show_first(&operation, &mut state, layout),
                b"'" => {
                    state.next_line(&[0.0, -state.leading]);
                    self.show_first(&operation, &mut state, layout);
                }
                b"\"" => {
                    if let [word_space, character_space, ..] = numbers()[..] {
                        (state.word_space, state.character_space) = (word_space, character_space);
                    }
                    state.next_line(&[0.0, -state.leading]);
                    self.show_first(&operation, &mut state, layout);
                }
                b"TJ" => {
                    let Some(Object::Array(items)) = operation.operands().next() else { continue };
                    for item in items.iter::<Object<'_>>() {
                        match item {
                            Object::String(text) => self.show(text.as_bytes(), &mut state, layout),
                            Object::Number(by) => {
                                state.advance(-by.as_f64() / 1000.0 * state.size * state.scale)
                            }
                            _ => {}
                        }
                    }
                }
                b"Do" => {
                    if let Some(Object::Name(name)) = operation.operands().next()
                        && let Some(form) = resources.get_x_object(name)
                    {
                        self.form(&form, resources, &state, layout, depth + 1);
                    }
                }
                _ => {}
            }
        }
    }

    fn form(
        &mut self,
        form: &Stream<'_>,
        outer: &Resources<'_>,
        state: &TextState,
        layout: &mut Layout,
        depth: usize,
    ) {
        self.forms += 1;
        let dict = form.dict();
        let is_form = dict.get::<Name<'_>>("Subtype").is_some_and(|kind| &*kind == b"Form");
        if !is_form || depth > DEPTH || self.forms > FORMS {
            return;
        }
        let Ok(data) = form.decoded() else { return };
        let mut state = state.clone();
        let place = dict.get::<hayro_syntax::object::Array<'_>>("Matrix");
        let place: Vec<f64> = place
            .iter()
            .flat_map(|array| array.iter::<hayro_syntax::object::Number>())
            .map(|number| number.as_f64())
            .collect();
        if let Some(matrix) = matrix(&place) {
            state.page = multiply(&matrix, &state.page);
        }
        let own = dict.get::<Dict<'_>>("Resources").map(Resources::new);
        self.run(UntypedIter::new(&data), own.as_ref().unwrap_or(outer), state, layout, depth);
    }

    fn font(&mut self, resources: &Resources<'_>, name: &Name<'_>) -> Option<Rc<Font>> {
        let dict = resources.get_font(name)?;
        let place = dict.data().as_ptr() as usize;
        Some(self.fonts.entry(place).or_insert_with(|| Rc::new(Font::read(&dict))).clone())
    }

    fn show_first(&mut self, operation: &Instruction<'_, '_>, state: &mut TextState, layout: &mut Layout) {
        let texts = operation.operands().filter_map(|operand| match operand {
            Object::String(text) => Some(text),
            _ => None,
        });
        if let Some(text) = texts.last() {
            self.show(text.as_bytes(), state, layout);
        }
    }

    fn show(&mut self, codes: &[u8], state: &mut TextState, layout: &mut Layout) {
        let Some(font) = state.font.clone() else { return };
        let begin = state.place();
        let shown = font.show(codes);
        self.unknown += shown.unknown;
        self.has_text |= !shown.text.trim().is_empty();
        let spaces = state.character_space * shown.codes as f64 + state.word_space * shown.spaces as f64;
        state.advance((shown.width * state.size + spaces) * state.scale);
        let size = state.height();
        layout.push(PlacedText { text: shown.text, begin, end: state.place(), size });
    }
}

impl TextState {
    fn next_line(&mut self, by: &[f64]) {
        if let [x, y, ..] = *by {
            self.line = multiply(&[1.0, 0.0, 0.0, 1.0, x, y], &self.line);
            self.text = self.line;
        }
    }

    fn advance(&mut self, by: f64) {
        self.text = multiply(&[1.0, 0.0, 0.0, 1.0, by, 0.0], &self.text);
    }

    fn place(&self) -> (f64, f64) {
        let matrix = multiply(&self.text, &self.page);
        (matrix[2] * self.rise + matrix[4], matrix[3] * self.rise + matrix[5])
    }

    /// Height of the font in the page's units.
    fn height(&self) -> f64 {
        let matrix = multiply(&self.text, &self.page);
        self.size.abs() * matrix[2].hypot(matrix[3])
    }
}

fn numbers(operation: &Instruction<'_, '_>) -> Vec<f64> {
    let numbers = operation.operands().filter_map(|operand| match operand {
        Object::Number(number) => Some(number.as_f64()),
        _ => None,
    });
    numbers.collect()
}

fn first(numbers: &[f64]) -> f64 {
    numbers.first().copied().unwrap_or_default()
}

fn matrix(numbers: &[f64]) -> Option<Matrix> {
    numbers.get(..6)?.try_into().ok()
}

/// Applies `inner` first.
fn multiply(inner: &Matrix, outer: &Matrix) -> Matrix {
    let [a, b, c, d, e, f] = *inner;
    let [g, h, i, j, k, l] = *outer;
    [a * g + b * i, a * h + b * j, c * g + d * i, c * h + d * j, e * g + f * i + k, e * h + f * j + l]
}
