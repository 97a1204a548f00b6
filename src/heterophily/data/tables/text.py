"""CSV, TSV and text tables, plain or gzipped, read by pyarrow; ids exactly as they are written."""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv

from heterophily.data.memory import need, refuse_bomb
from heterophily.data.tables.encoding import AS_UTF8, as_utf8, begins_as_utf8
from heterophily.data.tables.header import (
    announced_delimiter,
    guess_delimiter,
    has_no_header,
    named_columns,
    other_delimiter,
    refuse_drawn_line,
    refuse_title,
    surplus,
)
from heterophily.data.tables.locate import (
    find_problems,
    first_rows,
    lines_of_rows,
    unclosed_quote,
)
from heterophily.data.tables.spelling import (
    between_blanks,
    canonical_length,
    count_quotes,
    has_odd_blanks,
    integers_if_canonical,
    is_unusual,
)
from heterophily.data.tables.table import DELIMITERS, WITHOUT_ROWS, Head, check_columns, suffix_of
from heterophily.data.wording import count
from heterophily.errors import InputError

_BOM = b"\xef\xbb\xbf"
_BLOCK = 1 << 22  # bytes that pyarrow parses at a time
_LINE = 1 << 12  # bytes that most lines do not have
_END = ord("\n")
_CHUNK = 1 << 20
_HEAD_BYTES = 1 << 18
_LOOK_BYTES = 1 << 13  # of the first rows, to count their cells
_LONGEST_HEADER = 1 << 20  # bytes, when it is quoted over several lines


def _contents(path: Path, is_gzip: bool) -> Any:
    """Return the bytes of a file as an Arrow buffer: mapped, or unpacked from gzip."""
    if not is_gzip:
        with pa.memory_map(str(path)) as mapped:
            return mapped.read_buffer()
    try:
        held, content = path.stat().st_size, bytearray()
        with gzip.open(path) as stream:
            while chunk := stream.read(_CHUNK):
                content += chunk
                refuse_bomb(path.name, held=held, unpacked=len(content))
                need(4 * len(content), f"{path.name}, unpacked to {len(content):,} bytes or more,")
        return pa.py_buffer(content)
    except gzip.BadGzipFile as error:
        raise InputError(f"{path.name} is not a gzip file, though its name ends in .gz") from error
    except (EOFError, zlib.error) as error:
        raise InputError(f"{path.name} is damaged or cut off: its gzip data ends early") from error


def _is_code(cell: str | None) -> bool:
    """Whether a cell is made of digits and begins with a zero."""
    return cell is not None and len(cell) > 1 and cell[0] == "0" and cell.isdigit()


class TextTable:
    """One delimited text file. Without a header the columns are called 1, 2, 3, ..."""

    def __init__(self, path: Path, *, delimiter: str | None, has_header: bool | None) -> None:
        suffix = suffix_of(path)
        if delimiter is not None and (len(delimiter) != 1 or not delimiter.isascii()):
            raise InputError(f"delimiter={delimiter!r}; it must be one ASCII character")
        self.path, self.has_header, self.remarks = path, has_header is not False, list[str]()
        usual = DELIMITERS[suffix.removesuffix(".gz")]
        self._is_list = usual is None  # a list of edges, as graph programs write them
        self._blanks_separate = False
        self._is_foreign = False  # another encoding than UTF-8
        self._begin, self._first_line, first = self._split_header(delimiter, usual, has_header)
        if self.has_header:
            self.columns = named_columns(first)
            check_columns(self)
        else:
            self.columns = [str(number + 1) for number in range(len(first))]

    @cached_property
    def _contents(self) -> Any:
        contents = _contents(self.path, suffix_of(self.path).endswith(".gz"))
        if not self._is_foreign and begins_as_utf8(contents):
            return contents
        contents, remark = as_utf8(contents, self.path.name)
        self._is_foreign = True
        if remark not in self.remarks:
            self.remarks.append(remark)
        return contents

    @cached_property
    def _body(self) -> Any:
        body = self._without_empty_rows(self._contents.slice(self._begin))
        if not self._blanks_separate:
            return body
        text = memoryview(body).tobytes()
        return pa.py_buffer(between_blanks(text)) if has_odd_blanks(text) else body

    def _without_empty_rows(self, body: Any) -> Any:
        """Leave out rows of empty cells at the end, as spreadsheets export them."""
        view, size = memoryview(body), _CHUNK
        marks = self.delimiter.encode() + b" \t\r\n"
        tail = bytes(view[-size:])
        while not (kept := tail.rstrip(marks)) and len(tail) < len(body):
            size *= 8
            tail = bytes(view[-size:])
        rest = tail[len(kept) :]
        ends = [end for end in (rest.find(b"\n"), rest.find(b"\r")) if end >= 0]
        if not kept or not ends or self.delimiter.encode() not in rest[min(ends) :]:
            return body
        last = min(ends) + (2 if rest[min(ends) : min(ends) + 2] == b"\r\n" else 1)
        empty = sum(bool(line.strip(b" \r\n")) for line in rest[last:].splitlines())
        remark = f"{self.path.name}: {count(empty, 'empty row')} at the end left out"
        if remark not in self.remarks:
            self.remarks.append(remark)
        return body.slice(0, len(body) - len(rest) + last)

    def release(self) -> None:
        """Let go of the bytes of the file; they are read again when a message needs them."""
        self.__dict__.pop("_contents", None)
        self.__dict__.pop("_body", None)

    # --- the beginning of the file ------------------------------------------------------------

    def _split_header(
        self, given: str | None, usual: str | None, has_header: bool | None
    ) -> tuple[int, int, list[str]]:
        """Return where the data rows begin, the line they start on and the first row."""
        marks = ("#", "%") if self._is_list else ("#",)
        start, line, comments = 0, 1, 0
        view = memoryview(self._contents)
        if bytes(view[:3]) == _BOM:
            start = 3
        while (end := self._line_end(start)) > start:
            text = self._decoded(bytes(view[start:end]), line)
            if line == 1 and (announced := announced_delimiter(text)):
                given = given or announced
                self.remarks.append(f"{self.path.name}: the first line announces {announced!r}")
            elif text.startswith(marks) and text.strip():
                comments, mark = comments + 1, text[0]
            elif text.strip():
                break
            start, line = end, line + 1
        else:
            raise InputError(f"{self.path.name} has nothing but empty lines; {WITHOUT_ROWS}")
        if comments:
            count = "1 line" if comments == 1 else f"{comments} lines"
            self.remarks.append(f"{self.path.name}: {count} starting with {mark!r} skipped")
        delimiter = given or other_delimiter(text.strip(), usual) or usual
        if delimiter is None:
            delimiter = guess_delimiter(text.strip())
        if delimiter not in (given, usual):
            self._blanks_separate = delimiter == " "
            told = "blanks" if self._blanks_separate else repr(delimiter)
            self.remarks.append(f"{self.path.name}: columns separated by {told}")
        self.delimiter = delimiter
        pieces, lines, is_open = [text], 1, text.count('"') % 2 == 1
        while is_open and (more := self._line_end(end)) > end:  # a quoted line end
            piece = self._decoded(bytes(view[end:more]), line + lines)
            is_open = is_open != (piece.count('"') % 2 == 1)
            pieces.append(piece)
            end, lines = more, lines + 1
            if is_open and end - start > _LONGEST_HEADER:
                break
        if is_open:
            raise InputError(
                f'{self.path.name}, line {line}: a quote (") is opened and never closed; close or '
                "remove it"
            )
        line_text = "".join(pieces)
        if self._blanks_separate and '"' not in line_text:
            line_text = between_blanks(line_text.encode()).decode()
        record = io.StringIO(line_text, newline="")
        try:
            first = next(csv.reader(record, delimiter=delimiter))
        except csv.Error as error:
            raise InputError(f"{self.path.name}, line {line}: {error}") from error
        if has_header is None and has_no_header(first, is_list=self._is_list or comments > 0):
            self.has_header = False
            self.remarks.append(f"{self.path.name}: no header line, the first one holds numbers")
        if self.has_header:
            start, line = end, line + lines
            again = bytes(view[start : self._line_end(start)])
            refuse_drawn_line(self.path.name, line, again)
            refuse_title(self.path.name, line, first, again)
            first = self._with_surplus(first, start)
            if len(first) > 1 and again.strip() == line_text.strip().encode():
                raise InputError(
                    f"{self.path.name}, line {line}: it repeats the header line; remove it"
                )
        if bytes(view[start : start + 3]) == _BOM:  # pyarrow would pass over it
            raise InputError(
                f"{self.path.name}, line {line}: it begins with a byte order mark, which belongs "
                "at the beginning of a file; remove it"
            )
        return start, line, first

    def _with_surplus(self, header: list[str], start: int) -> list[str]:
        """Return the header with a name for the cell that all of the first rows have more.

        A first one is the name of the row if it is quoted, or if tabs separate: a comma in a value
        gives one cell more, too.
        """
        piece = bytes(memoryview(self._contents)[start : start + _LOOK_BYTES])
        is_cut = start + len(piece) < len(self._contents)
        more = surplus(header, first_rows(piece, self.delimiter, is_cut=is_cut))
        if more == "last":
            return [*header, ""]
        lines = piece.splitlines()[: -1 if is_cut else None]
        is_quoted = all(line.startswith(b'"') for line in lines if line.strip())
        if more != "first" or not (is_quoted or self.delimiter == "\t"):
            return header
        self.remarks.append(
            f"{self.path.name}: rows have one cell more than the header; the first is taken for "
            "the name of the row"
        )
        return ["", *header]

    def _line_end(self, start: int) -> int:
        """Return where the line that begins at ``start`` ends (after its line end)."""
        view, size, length = memoryview(self._contents), 1 << 12, len(self._contents)
        while True:
            piece = bytes(view[start : start + size])
            ends = [end for end in (piece.find(b"\n"), piece.find(b"\r")) if end >= 0]
            if ends and min(ends) + 1 < len(piece):
                end = min(ends)
                return start + end + (2 if piece[end : end + 2] == b"\r\n" else 1)
            if start + size >= length:
                return length
            size *= 4

    def _decoded(self, data: bytes, line: int) -> str:
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError as error:
            raise InputError(
                f"{self.path.name}, line {line}: not UTF-8 text (byte 0x{data[error.start]:02x}); "
                f"{AS_UTF8}"
            ) from error

    def head(self) -> Head:
        """Return the first rows of all columns as text."""
        piece = bytes(memoryview(self._body)[:_HEAD_BYTES])
        rows = first_rows(piece, self.delimiter, is_cut=len(piece) < len(self._body))
        rows = [row for row in rows if len(row) == len(self.columns)]
        return {
            name: [row[place] or None for row in rows] for place, name in enumerate(self.columns)
        }

    # --- the rows -----------------------------------------------------------------------------

    def read(
        self,
        *,
        ids: Sequence[str] = (),
        numbers: Sequence[str] = (),
        words: Sequence[str] = (),
        cells: Sequence[str] = (),
        advice: str = "",
    ) -> dict[str, Any]:
        """Return columns: ids as int64 or string, numbers as float64, words as string (or null).

        ``cells`` are numbers, dates or text, as all cells of the column allow.
        Integers are taken for ids only when each is written in the one canonical way: where an id
        has a leading zero, a sign or a space, the ids of that column are strings.
        """
        types = {**dict.fromkeys(numbers, pa.float64()), **dict.fromkeys(words, pa.string())}
        if cells:  # codes such as 01067 keep their zeros
            head = self.head()
            codes = [name for name in cells if any(map(_is_code, head.get(name, [])))]
            types |= dict.fromkeys(codes, pa.string())
        if words or cells:  # other columns hold blanks and quotes: look at the ids themselves
            types |= dict.fromkeys(ids, pa.string())
        table = self._parse([*ids, *numbers, *words, *cells], types, advice)
        if table is None or table.num_rows == 0:
            raise InputError(f"{self.path.name} has a header but no rows; {WITHOUT_ROWS}")
        found = {name: table.column(name) for name in table.column_names}
        del table
        pa.default_memory_pool().release_unused()  # what the parser no longer needs
        if any(pa.types.is_binary(column.type) for column in found.values()):
            if not self._is_foreign:  # the first bytes were ASCII: read again, as it is
                self.release()
                self._is_foreign = True
                return self.read(ids=ids, numbers=numbers, words=words, cells=cells, advice=advice)
            self._explain(InputError(f"not UTF-8 text; {AS_UTF8}"), types, advice)
        if words or cells:
            return found | {name: integers_if_canonical(found[name]) for name in ids}
        doubtful = [name for name in ids if found[name].type != pa.string()]
        if self._is_canonical(found) or (
            all(found[name].type == pa.int64() for name in doubtful) and not self._is_unusual
        ):
            doubtful = []
        if doubtful:
            texts = self._parse(doubtful, dict.fromkeys(doubtful, pa.string()))
            for name in doubtful:
                if found[name].type != pa.int64() or not texts.column(name).equals(
                    found[name].cast(pa.string())
                ):
                    found[name] = texts.column(name)
        return found

    def _is_canonical(self, found: dict[str, Any]) -> bool:
        """Whether the file holds nothing but integers, as short as they can be written.

        Then there is no need to look at its bytes. Other files may be as exact; this is the quick
        answer for a plain list of edges.
        """
        if set(found) != set(self.columns):
            return False
        if any(column.type != pa.int64() or column.null_count for column in found.values()):
            return False
        cells = sum(len(column) for column in found.values())  # each ends in one character
        spare = len(self._body) - cells
        if not spare > 0:
            return False
        for column in found.values():
            spare -= sum(canonical_length(chunk.to_numpy()) for chunk in column.chunks)
        has_last_end = bytes(memoryview(self._body)[-1:]) == b"\n"
        return spare == (0 if has_last_end else -1)

    def _parse(self, columns: Sequence[str], types: dict[str, Any], advice: str = "") -> Any:
        """Return a pyarrow table of some columns; ``None`` when there are no rows."""
        if len(self._body) == 0:
            return None
        size = len(self._body)
        need(2 * size, f"{self.path.name}, {size:,} bytes of text,")
        block = self._block()
        while True:
            try:
                return pa_csv.read_csv(
                    pa.BufferReader(self._body),
                    read_options=pa_csv.ReadOptions(column_names=self.columns, block_size=block),
                    parse_options=pa_csv.ParseOptions(
                        delimiter=self.delimiter, newlines_in_values=self._has_quotes
                    ),
                    convert_options=pa_csv.ConvertOptions(
                        include_columns=list(dict.fromkeys(columns)),
                        column_types=types,
                        null_values=[""],
                        strings_can_be_null=True,
                        true_values=[],
                        false_values=[],
                    ),
                )
            except pa.ArrowInvalid as error:
                if "straddling" in str(error) and block < len(self._body):
                    block = min(block * 8, 2**31 - 1)  # a row longer than a block
                    continue
                if "Empty CSV" in str(error):
                    return None
                self._explain(error, types, advice)

    def _block(self) -> int:
        """Return how many bytes are parsed at a time: no stretch of so many lies within one line.

        Older versions of pyarrow may hang where a line is longer than that.
        """
        body, block = np.frombuffer(self._body, np.uint8), _BLOCK
        while (
            block < len(body)
            and any(
                not (body[start : start + _LINE] == _END).any()  # most lines are short: look there
                and not (body[start : start + block] == _END).any()
                for start in range(0, len(body) - block, block)
            )
        ):
            block *= 8
        return min(block, 2**31 - 1)

    def _explain(self, error: Exception, types: dict[str, Any], advice: str) -> NoReturn:
        """Find the offending line by a slow second reading and name it."""
        numbers = [name for name, kind in types.items() if kind == pa.float64()]
        problems = find_problems(self._lines(), self.delimiter, self.columns, numbers, advice)
        if problems:
            more = f"; also {'; '.join(problems[1:])}" if problems[1:] else ""
            raise InputError(f"{self.path.name}, {problems[0]}{more}") from error
        raise InputError(f"{self.path.name}: {str(error).splitlines()[0]}") from error

    def _lines(self) -> tuple[bytes, int]:
        return bytes(memoryview(self._body)), self._first_line

    def places(self, rows: Sequence[int]) -> list[str]:
        """Say on which lines data rows (from 0) begin."""
        lines = lines_of_rows(self._lines(), self.delimiter, rows)
        return [
            f"data row {row + 1}" if line is None else f"line {line} (data row {row + 1})"
            for line, row in zip(lines, rows, strict=True)
        ]

    @cached_property
    def _has_quotes(self) -> bool:
        """Whether a row has a quote; refuse one that is never closed."""
        quotes = count_quotes(np.frombuffer(self._body, np.uint8))
        if quotes % 2 and (line := unclosed_quote(self._lines(), self.delimiter)):
            raise InputError(
                f'{self.path.name}, line {line}: a quote (") is opened and never closed; close or '
                "remove it"
            )
        return quotes > 0

    @cached_property
    def _is_unusual(self) -> bool:
        return is_unusual(np.frombuffer(self._body, np.uint8), self.delimiter)
