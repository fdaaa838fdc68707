//! A circuit's memory in which field elements may be nodes of a graph, and what was written since a checkpoint.

use super::{Way, value::SymbolicValue};
use crate::{
    number,
    wasm::element::{self, BYTES, WasmElement},
};
use proofmill_circom::ScalarPrime;
use zeroize::Zeroize;

/// A field element: one that does not depend on inputs, or a node.
#[derive(Clone, Copy, Debug)]
pub(super) enum ElementOperand<P: ScalarPrime> {
    Known(WasmElement<P>),
    Node(u32),
}

/// Bytes of a word. Each word has a mark.
const WORD: usize = 4;
/// Words of an element.
const WORDS: usize = BYTES / WORD;

/// The kind of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
struct Mark(u32);

impl Mark {
    /// Bytes that do not depend on inputs.
    const BYTES: Self = Self(0);
    /// The first word of an element that does not depend on inputs.
    const ELEMENT: Self = Self(1);
    const CHOICES: u32 = 1 << 31;
    /// A word that differs between ways that met; nothing may read it.
    const MIXED: Self = Self(u32::MAX - 1);
    /// A later word of a node's element.
    const PART: Self = Self(u32::MAX);

    /// The first word of a node's element. There are fewer than 2^31 - 2 nodes.
    fn of(node: u32) -> Self {
        Self(node + 2)
    }

    fn node(self) -> Option<u32> {
        if self.is_known() || self.0 >= Self::CHOICES { None } else { Some(self.0 - 2) }
    }

    /// A choice between two words, by its number. There are fewer than 2^31 - 2 choices.
    fn of_choice(number: u32) -> Self {
        Self(Self::CHOICES + number)
    }

    fn choice(self) -> Option<u32> {
        if self == Self::MIXED || self == Self::PART { None } else { self.0.checked_sub(Self::CHOICES) }
    }

    fn is_known(self) -> bool {
        self.0 <= Self::ELEMENT.0
    }
}

/// A word and its content.
#[derive(Clone, Copy, Debug)]
struct Content {
    word: u32,
    mark: Mark,
    bytes: [u8; WORD],
}

impl Content {
    /// The word's value, if it has one.
    fn value(&self) -> Option<SymbolicValue> {
        match self.mark.choice() {
            Some(choice) => Some(SymbolicValue::choice(choice)),
            None if self.mark.is_known() => {
                Some(SymbolicValue::integer(u32::from_le_bytes(self.bytes).into()))
            }
            None => None,
        }
    }
}

/// Joins contents that differ between this way and another.
pub(super) trait Joined<P: ScalarPrime> {
    fn element(&mut self, own: ElementOperand<P>, other: ElementOperand<P>) -> ElementOperand<P>;
    fn word(&mut self, own: SymbolicValue, other: SymbolicValue) -> SymbolicValue;
}

/// A point in time to go back to. They are numbered in the order in which they are made, from 1.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Checkpoint {
    number: u32,
    /// The length of the journal.
    position: usize,
}

/// The journal's entry of a word.
#[derive(Clone, Copy, Debug)]
struct Entry {
    before: Content,
    /// The checkpoint since which the word was in the journal before.
    recorded: u32,
}

/// The words that were written since a checkpoint, each once, in order.
#[derive(Debug)]
pub(super) struct WrittenWords {
    live: Vec<Content>,
    /// The end of all words that were written, dead ones included.
    end: u32,
    dead: u64,
    /// The length of the journal up to which words are included.
    seen: usize,
}

/// The most bytes that a WASM can address.
const LARGEST: u64 = 1 << 32;
const PAGE: u64 = 1 << 16;

/// Each wire's position in the circuit's list of them.
const BYTES_OF_A_WIRE: usize = 4;

/// The memory of a circuit. Its elements may be nodes if it is symbolic.
pub(super) struct CircuitMemory<const SYMBOLIC: bool> {
    bytes: Vec<u8>,
    /// The [`Mark`] of each word, as a number: pages of zeros need not be written. Empty if all words are known.
    marks: Vec<u32>,
    most: u64,
    /// The old contents of words that were written since the first checkpoint still in use. Each such word is here at least once
    /// after each checkpoint.
    journal: Vec<Entry>,
    /// The last checkpoint since which each word is in the journal.
    recorded: Vec<u32>,
    /// The last checkpoint still in use; the default if there is none.
    pub(super) checkpoint: Checkpoint,
    /// The number of all checkpoints so far.
    checkpoints: u32,
}

impl<const SYMBOLIC: bool> CircuitMemory<SYMBOLIC> {
    /// A memory of `pages` pages of zeros, which may grow to `most` bytes.
    pub(super) fn new(pages: u64, most: u64) -> Result<Self, Way> {
        let mut memory = Self {
            bytes: Vec::new(),
            marks: Vec::new(),
            most: most.min(LARGEST),
            journal: Vec::new(),
            recorded: Vec::new(),
            checkpoint: Checkpoint::default(),
            checkpoints: 0,
        };
        memory.grow(pages)?;
        Ok(memory)
    }

    pub(super) fn pages(&self) -> u64 {
        self.bytes.len() as u64 / PAGE
    }

    pub(super) fn grow(&mut self, pages: u64) -> Result<(), Way> {
        let length = pages.checked_mul(PAGE).and_then(|more| more.checked_add(self.bytes.len() as u64));
        let length = length.filter(|length| *length <= self.most).ok_or(Way::Memory)?;
        let words = if SYMBOLIC { length as usize / WORD } else { 0 };
        if self.bytes.is_empty() {
            // Pages of zeros that the system has not to write.
            self.bytes = vec![0; length as usize];
            self.marks = vec![Mark::BYTES.0; words];
            self.recorded = vec![0; words];
        } else {
            // A reallocation could leave the signals' values in freed memory.
            let mut bytes = Vec::with_capacity(length as usize);
            bytes.extend_from_slice(&self.bytes);
            bytes.resize(length as usize, 0);
            wipe(&mut self.bytes);
            self.bytes = bytes;
            self.marks.resize(words, Mark::BYTES.0);
            self.recorded.resize(words, 0);
        }
        Ok(())
    }

    /// Writes the initial bytes of the memory.
    pub(super) fn initialise(&mut self, at: u32, bytes: &[u8]) -> Result<(), Way> {
        let place = self.bytes.get_mut(at as usize..).and_then(|place| place.get_mut(..bytes.len()));
        place.ok_or(Way::Outside)?.copy_from_slice(bytes);
        Ok(())
    }

    /// Refuses another field than the circuit's, whose modulus is at an address.
    pub(super) fn expect_prime<P: ScalarPrime>(&self, at: u32) -> Result<(), Way> {
        let modulus = self.bytes.get(at as usize..).and_then(<[u8]>::first_chunk).ok_or(Way::Outside)?;
        if number::limbs(modulus) == P::MODULUS { Ok(()) } else { Err(Way::Field) }
    }

    /// Refuses more wires than the memory has room for.
    pub(super) fn expect_room(&self, wires: u32) -> Result<(), Way> {
        if wires as usize <= self.bytes.len() / BYTES_OF_A_WIRE { Ok(()) } else { Err(Way::Memory) }
    }

    /// The marks of the words that have these bytes.
    fn marks_of(&self, at: usize, bytes: usize) -> Result<impl Iterator<Item = Mark>, Way> {
        let marks = self.marks.get(at / WORD..(at + bytes).div_ceil(WORD)).ok_or(Way::Outside)?;
        Ok(marks.iter().copied().map(Mark))
    }

    /// The marks of an element's words.
    fn marks_of_element(&self, first: usize) -> Result<[Mark; WORDS], Way> {
        let marks: &[u32; WORDS] =
            self.marks.get(first..).and_then(<[_]>::first_chunk).ok_or(Way::Outside)?;
        Ok(marks.map(Mark))
    }

    fn set_marks_of_element(&mut self, first: usize, marks: [Mark; WORDS]) -> Result<(), Way> {
        let place = self.marks.get_mut(first..).and_then(<[_]>::first_chunk_mut).ok_or(Way::Outside)?;
        *place = marks.map(|mark| mark.0);
        Ok(())
    }

    /// Bytes as an integer.
    #[inline(always)]
    pub(super) fn load(&self, at: u64, bytes: usize) -> Result<SymbolicValue, Way> {
        let at = usize::try_from(at).map_err(|_| Way::Outside)?;
        if !SYMBOLIC && bytes == WORD {
            let word = self.bytes.get(at..).and_then(<[u8]>::first_chunk).ok_or(Way::Outside)?;
            return Ok(SymbolicValue::integer(u32::from_le_bytes(*word).into()));
        }
        self.load_any(at, bytes)
    }

    fn load_any(&self, at: usize, bytes: usize) -> Result<SymbolicValue, Way> {
        if SYMBOLIC {
            let mut marks = self.marks_of(at, bytes)?;
            if bytes == WORD
                && at.is_multiple_of(WORD)
                && let Some(choice) = self.marks_of(at, bytes)?.find_map(Mark::choice)
            {
                return Ok(SymbolicValue::choice(choice));
            }
            if !marks.all(Mark::is_known) {
                return Err(Way::Bytes);
            }
        }
        let mut value = [0; 8];
        let source = self.bytes.get(at..at + bytes).ok_or(Way::Outside)?;
        value.get_mut(..bytes).ok_or(Way::Outside)?.copy_from_slice(source);
        SymbolicValue::long_integer::<SYMBOLIC>(u64::from_le_bytes(value))
    }

    /// The word at an address.
    pub(super) fn word(&self, at: u32) -> Result<u32, Way> {
        Ok(self.load(at.into(), WORD)?.known().ok_or(Way::Mixed)? as u32)
    }

    /// Writes the lowest bytes of an integer; a choice must be written whole, with four bytes.
    pub(super) fn store(&mut self, at: u64, bytes: usize, value: SymbolicValue) -> Result<(), Way> {
        let at = usize::try_from(at).map_err(|_| Way::Outside)?;
        if SYMBOLIC {
            self.mark_stored(at, bytes, value)?;
        }
        let place = self.bytes.get_mut(at..at + bytes).ok_or(Way::Outside)?;
        let value = value.known_if_not::<SYMBOLIC>().unwrap_or(0).to_le_bytes();
        place.copy_from_slice(value.get(..bytes).ok_or(Way::Outside)?);
        Ok(())
    }

    /// Marks the words that bytes of an integer are written to.
    fn mark_stored(&mut self, at: usize, bytes: usize, value: SymbolicValue) -> Result<(), Way> {
        let (first, end) = (at / WORD, (at + bytes).div_ceil(WORD));
        if value.as_choice().is_some() && !(at.is_multiple_of(WORD) && bytes == WORD) {
            return Err(Way::Bytes);
        }
        if !at.is_multiple_of(WORD) || !bytes.is_multiple_of(WORD) {
            // A part of a word.
            if !self.marks_of(at, bytes)?.all(Mark::is_known) {
                return Err(Way::Bytes);
            }
            (first..end).try_for_each(|word| self.record(word))?;
        } else {
            self.release(first, end)?;
            let mark = value.as_choice().map_or(Mark::BYTES, Mark::of_choice);
            self.marks.get_mut(first..end).ok_or(Way::Outside)?.fill(mark.0);
        }
        Ok(())
    }

    /// The element at an address, where all are known.
    #[inline(always)]
    pub(super) fn known<P: ScalarPrime>(&self, at: u32) -> Result<WasmElement<P>, Way> {
        Ok(WasmElement::read(&self.bytes, at as i32)?)
    }

    /// The integer at an address that is an element in the short form, where all are known.
    #[inline(always)]
    pub(super) fn short(&self, at: u32) -> Result<Option<i32>, Way> {
        Ok(element::short(&self.bytes, at)?)
    }

    /// Writes an element, where all are known.
    #[inline(always)]
    pub(super) fn set_known<P: ScalarPrime>(&mut self, at: u32, element: WasmElement<P>) -> Result<(), Way> {
        Ok(element.write(&mut self.bytes, at as i32)?)
    }

    /// The element at an address.
    pub(super) fn element<P: ScalarPrime>(&self, at: u32) -> Result<ElementOperand<P>, Way> {
        let known = || self.known(at).map(ElementOperand::Known);
        if !SYMBOLIC {
            return known();
        }
        let marks = self.marks_of_element(at as usize / WORD)?;
        if !(at as usize).is_multiple_of(WORD) {
            return Err(Way::Unknown);
        }
        if let Some(node) = marks[0].node() {
            return Ok(ElementOperand::Node(node));
        }
        if marks[0] == Mark::MIXED || !marks.into_iter().all(Mark::is_known) {
            return Err(Way::Mixed);
        }
        known()
    }

    /// Writes an element.
    pub(super) fn set<P: ScalarPrime>(&mut self, at: u32, value: ElementOperand<P>) -> Result<(), Way> {
        if !SYMBOLIC && let ElementOperand::Known(element) = value {
            return self.set_known(at, element);
        }
        self.replace(at)?;
        let (head, tail) = match value {
            ElementOperand::Known(_) => (Mark::ELEMENT, Mark::BYTES),
            ElementOperand::Node(node) => (Mark::of(node), Mark::PART),
        };
        let mut marks = [tail; WORDS];
        marks[0] = head;
        self.set_marks_of_element(at as usize / WORD, marks)?;
        match value {
            ElementOperand::Known(element) => self.set_known(at, element),
            ElementOperand::Node(_) => Ok(()),
        }
    }

    /// Copies an element, whatever it is.
    pub(super) fn copy<P: ScalarPrime>(&mut self, to: u32, from: u32) -> Result<(), Way> {
        if SYMBOLIC {
            self.copy_marks(to, from)?;
        }
        Ok(WasmElement::<P>::copy(&mut self.bytes, to, from)?)
    }

    fn copy_marks(&mut self, to: u32, from: u32) -> Result<(), Way> {
        if !(from as usize).is_multiple_of(WORD) {
            return Err(Way::Unknown);
        }
        self.replace(to)?;
        let (source, target) = (from as usize / WORD, to as usize / WORD);
        let mut marks = self.marks_of_element(source)?;
        // Without branches.
        let has_part = marks.iter().fold(false, |any, mark| any | (*mark == Mark::PART));
        if marks[0].node().is_none() && has_part {
            return Err(Way::Bytes);
        }
        if marks[0] == Mark::BYTES {
            marks[0] = Mark::ELEMENT;
        }
        self.set_marks_of_element(target, marks)
    }

    /// Makes sure that an element can be written here.
    fn replace(&mut self, at: u32) -> Result<(), Way> {
        if !(at as usize).is_multiple_of(WORD) {
            return Err(Way::Unknown);
        }
        let first = at as usize / WORD;
        self.release(first, first + WORDS)
    }

    /// Called before words are written: elements that they overlap are lost.
    fn release(&mut self, first: usize, end: usize) -> Result<(), Way> {
        let is = |memory: &Self, word: usize| memory.marks.get(word) == Some(&Mark::PART.0);
        // Elements that begin before these words, or end behind them.
        let mut start = first;
        while is(self, start) {
            start = start.checked_sub(1).ok_or(Way::Outside)?;
        }
        let mut behind = end;
        while is(self, behind) {
            behind += 1;
        }
        let recorded = self.recorded.get(start..behind).ok_or(Way::Outside)?;
        // Mostly all these words are in the journal already.
        if recorded.iter().fold(u32::MAX, |least, number| least.min(*number)) < self.checkpoint.number {
            (start..behind).try_for_each(|word| self.record(word))?;
        }
        for range in [start..first, end..behind] {
            if !range.is_empty() {
                self.marks.get_mut(range).ok_or(Way::Outside)?.fill(Mark::MIXED.0);
            }
        }
        Ok(())
    }

    fn content(&self, word: u32) -> Result<Content, Way> {
        let index = word as usize;
        let mark = Mark(*self.marks.get(index).ok_or(Way::Outside)?);
        let bytes = self.bytes.as_chunks().0.get(index).ok_or(Way::Outside)?;
        Ok(Content { word, mark, bytes: *bytes })
    }

    fn write(&mut self, content: Content) {
        let index = content.word as usize;
        if let (Some(mark), Some(bytes)) =
            (self.marks.get_mut(index), self.bytes.as_chunks_mut().0.get_mut(index))
        {
            (*mark, *bytes) = (content.mark.0, content.bytes);
        }
    }

    /// Called before a word is written: records its old content.
    fn record(&mut self, word: usize) -> Result<(), Way> {
        let recorded = *self.recorded.get(word).ok_or(Way::Outside)?;
        // Only the first content since the checkpoint is needed to go back.
        if recorded < self.checkpoint.number {
            let before = self.content(word as u32)?;
            self.journal.push(Entry { before, recorded });
            *self.recorded.get_mut(word).ok_or(Way::Outside)? = self.checkpoint.number;
        }
        Ok(())
    }

    /// Makes a checkpoint, the last from here on.
    pub(super) fn set_checkpoint(&mut self) -> Result<Checkpoint, Way> {
        self.checkpoints = self.checkpoints.checked_add(1).ok_or(Way::Memory)?;
        self.checkpoint = Checkpoint { number: self.checkpoints, position: self.journal.len() };
        Ok(self.checkpoint)
    }

    /// The words that are kept to go back.
    pub(super) fn kept(&self) -> usize {
        self.journal.len()
    }

    /// Forgets what no checkpoint needs.
    pub(super) fn forget(&mut self) {
        if self.checkpoint.number == 0 {
            self.journal.clear();
        }
    }

    /// The old contents of the words that were written since a checkpoint. Words from the address `dead` on are dead.
    pub(super) fn before(&self, checkpoint: Checkpoint, dead: u64) -> WrittenWords {
        let mut before = WrittenWords { live: Vec::new(), end: 0, dead, seen: checkpoint.position };
        self.extend(&mut before);
        before
    }

    /// Adds the words that were written since.
    fn extend(&self, before: &mut WrittenWords) {
        let WrittenWords { live, end, dead, seen } = before;
        for Entry { before, .. } in self.journal.get(*seen..).unwrap_or_default() {
            *end = (before.word + 1).max(*end);
            if u64::from(before.word) * (WORD as u64) < *dead {
                live.push(*before);
            }
        }
        *seen = self.journal.len();
        // Stable: the first of a word's contents is what it was.
        live.sort_by_key(|content| content.word);
        live.dedup_by_key(|content| content.word);
    }

    /// [`Self::before`], as it is now.
    pub(super) fn written(&self, checkpoint: Checkpoint, dead: u64) -> Result<WrittenWords, Way> {
        let mut written = self.before(checkpoint, dead);
        for content in &mut written.live {
            *content = self.content(content.word)?;
        }
        Ok(written)
    }

    /// Makes the memory what it was at a checkpoint.
    pub(super) fn undo(&mut self, checkpoint: Checkpoint) {
        // Backwards, so that the oldest content of a word is written last.
        while self.journal.len() > checkpoint.position
            && let Some(Entry { before, recorded }) = self.journal.pop()
        {
            self.write(before);
            if let Some(place) = self.recorded.get_mut(before.word as usize) {
                *place = recorded;
            }
        }
    }

    /// Writes again what was undone.
    pub(super) fn redo(&mut self, written: &WrittenWords) -> Result<(), Way> {
        for content in &written.live {
            self.record(content.word as usize)?;
            self.write(*content);
        }
        Ok(())
    }

    /// Joins the memory with what another way wrote since the checkpoint that this is from. Words that are not of one kind on both ways become
    /// mixed.
    pub(super) fn join<P: ScalarPrime>(
        &mut self,
        before: &mut WrittenWords,
        other: &WrittenWords,
        joined: &mut impl Joined<P>,
    ) -> Result<(), Way> {
        self.extend(before);
        before.end = before.end.max(other.end);
        before.dead = before.dead.min(other.dead);
        // What the other way wrote comes first, and then counts.
        let mut others = [&*other.live, &before.live].concat();
        others.sort_by_key(|content| content.word);
        others.dedup_by_key(|content| content.word);
        let mut joined_to = 0;
        for (index, content) in others.iter().enumerate() {
            let (word, own) = (content.word, self.content(content.word)?);
            // The words after a node's first have no content, and those after an element's first are part of it.
            let same = match own.mark {
                Mark::BYTES => own.bytes == content.bytes,
                mark => mark != Mark::ELEMENT,
            };
            if word < joined_to || same && own.mark == content.mark {
                continue;
            }
            let is_element = |mark: Mark| mark == Mark::ELEMENT || mark.node().is_some();
            if !is_element(own.mark) && !is_element(content.mark) {
                match own.value().zip(content.value()) {
                    Some((own, other)) => {
                        let at = u64::from(word) * WORD as u64;
                        self.store(at, WORD, joined.word(own, other))?;
                    }
                    None => self.mix(word, word + 1)?,
                }
                continue;
            }
            let at = word * WORD as u32;
            let behind = others.get(index..).unwrap_or_default();
            let pair = self.element::<P>(at).ok().zip(self.other_element(behind, word));
            joined_to = word + WORDS as u32;
            match pair {
                Some((own, other)) => {
                    let element = joined.element(own, other);
                    self.set(at, element)?;
                }
                None => self.mix(word, joined_to)?,
            }
        }
        Ok(())
    }

    /// Marks the dead words of these as mixed.
    pub(super) fn mix_dead(&mut self, before: &WrittenWords) -> Result<(), Way> {
        self.mix(before.dead.div_ceil(WORD as u64).min(before.end.into()) as u32, before.end)
    }

    /// Makes words mixed.
    fn mix(&mut self, first: u32, end: u32) -> Result<(), Way> {
        let (mut first, end) = (first as usize, end as usize);
        let is_other = |mark: &u32| *mark != Mark::MIXED.0;
        while let Some(next) = self.marks.get(first..end).and_then(|marks| marks.iter().position(is_other)) {
            first += next;
            self.record(first)?;
            *self.marks.get_mut(first).ok_or(Way::Outside)? = Mark::MIXED.0;
        }
        Ok(())
    }

    /// The element from a word on, if the first of these contents are the words that another way wrote.
    fn other_element<P: ScalarPrime>(&self, others: &[Content], first: u32) -> Option<ElementOperand<P>> {
        let mut bytes = [[0; WORD]; WORDS];
        let mut others = others.iter().peekable();
        for (word, bytes) in (first..).zip(bytes.iter_mut()) {
            let other = others.next_if(|content| content.word == word).copied();
            let content = other.or_else(|| self.content(word).ok())?;
            match content.mark.node() {
                Some(node) if word == first => return Some(ElementOperand::Node(node)),
                _ if !content.mark.is_known() => return None,
                _ => *bytes = content.bytes,
            }
        }
        WasmElement::read(bytes.as_flattened(), 0).ok().map(ElementOperand::Known)
    }
}

impl<const SYMBOLIC: bool> Drop for CircuitMemory<SYMBOLIC> {
    /// Wipes the signals' values.
    fn drop(&mut self) {
        wipe(&mut self.bytes);
    }
}

/// Writes zeros, except to pages that were never written, which have no memory yet.
fn wipe(bytes: &mut [u8]) {
    const PIECE: usize = 1 << 12;
    let written = bytes.chunks_mut(PIECE).filter(|piece| piece.iter().any(|byte| *byte != 0));
    written.for_each(|piece| piece.zeroize());
}
