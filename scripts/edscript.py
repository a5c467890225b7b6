#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Check an edit (NAME.ed) of the overlay, and make the edit with ed.

An edit is a list of commands; each is followed by the lines to add and a
lone ".":

    # why (comments and empty lines may stand between commands)
    /re/a           add after the line that matches
    /re/i           add before it
    /re/c           replace it
    /re1/;/re2/c    replace from the first match to the next match of re2
                    (a and i work at the line that matches re2)
    $a              add at the end of the file

No other command is allowed. Anchors are ed's own *basic* regular expressions
(parentheses, braces, + and ? stand for themselves; -r below means "restricted",
not "extended"); a slash in them is written \\/. They are looked up in the file
as edited so far, in the order of the script. A first address must match exactly
one line. A second address must match within MAX_DISTANCE lines after the first.
A line to add must not itself look like a command: this is how a forgotten "."
shows.

ed stops at the first error only when its standard input is a regular file, so
the commands go through one. What ed wrote is then compared with what the line
numbers of the anchors say it should have written.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile

MAX_DISTANCE = 20

RE = r'/((?:[^/\\]|\\.)+)/'
COMMAND = re.compile(rf'(?:{RE}(?:;{RE})?([aic])|(\$)(a))')


class EditError(Exception):
    pass


class Command:
    def __init__(self, line, match):
        self.line = line
        self.source = match.group(0)
        self.first, self.second = match.group(1), match.group(2)
        self.verb = match.group(3) or match.group(5)
        self.text = []


def read_lines(path):
    """The lines of a file. Only a newline ends a line, any byte is allowed."""
    with open(path, encoding='utf-8', errors='surrogateescape', newline='\n') as f:
        data = f.read()
    lines = data.split('\n')
    if lines[-1] == '':
        lines.pop()
    return lines


def parse(path, name):
    """Return the commands of the edit in the file path, which is called name."""
    commands = []
    command = None
    number = 0
    for number, line in enumerate(read_lines(path), 1):
        where = f'{name}:{number}'
        match = COMMAND.fullmatch(line)
        if command:
            if line == '.':
                if not command.text:
                    raise EditError(f'{where}: no lines to add before this "."')
                command = None
            elif match:
                raise EditError(f'{where}: "{line}" among lines to add: '
                                f'the block of line {command.line} lacks its "."')
            else:
                command.text.append(line)
        elif match:
            command = Command(number, match)
            commands.append(command)
        elif line and not line.startswith('#'):
            start = COMMAND.match(line)
            if start:
                raise EditError(f'{where}: "{line[start.end():]}" after the '
                                f'command {start.group(0)}')
            raise EditError(f'{where}: "{line}" is not an allowed command '
                            '(/re/a, /re/i, /re/c, /re1/;/re2/c, $a)')
    if command:
        raise EditError(f'{name}:{command.line}: the block of {command.source} '
                        'lacks its "." at the end of the file')
    if not commands:
        raise EditError(f'{name}:{max(number, 1)}: no command')
    return commands


def ed(path, script):
    """Run ed on path; return its exit status and output."""
    with tempfile.TemporaryFile() as stdin:
        stdin.write(script.encode('utf-8', 'surrogateescape'))
        stdin.flush()
        stdin.seek(0)
        done = subprocess.run(
            ['ed', '-rsv', '--', os.path.basename(path)],
            cwd=os.path.dirname(path) or '.', stdin=stdin,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
            env=dict(os.environ, LC_ALL='C'))
    return done.returncode, done.stdout.decode('utf-8', 'surrogateescape')


def block(command):
    return '\n'.join([command.source] + command.text + ['.', ''])


def script_of(commands):
    return ''.join(block(c) for c in commands) + 'w\nq\n'


def locate(commands, path, name, label):
    """Return (first, last) line for each command, as found by ed itself.

    Each command is run after its anchors were looked up, since the next ones
    are looked up in the result. "$=" marks where the output for an address
    begins: a line number without a tab. Nothing is written.
    """
    script = ''
    for c in commands:
        script += '$=\n'
        script += f'g/{c.first}/n\n' if c.first else ''
        script += '$=\n'
        script += f'/{c.first}/;/{c.second}/n\n' if c.second else ''
        script += block(c)
    output = ed(path, script + 'Q\n')[1]

    groups = []
    trouble = ''
    for line in output.split('\n'):
        if re.fullmatch(r'\d+', line):
            groups.append([int(line)])
        elif groups and re.match(r'\d+\t', line):
            groups[-1].append(int(line.split('\t')[0]))
        elif re.match(r'script, line \d+: ', line):
            trouble = line.split(': ', 1)[1]
        elif line not in ('', '?'):
            trouble = line
    if trouble == 'No match':
        trouble = ''

    found = []
    for c, ones, twos in zip(commands, groups[::2], groups[1::2] + [[0]]):
        where = f'{name}:{c.line}'
        first = last = ones[0]
        if c.first:
            if len(ones) != 2:
                raise EditError(f'{where}: anchor /{c.first}/ matches '
                                f'{len(ones) - 1} times in {label}, must match once'
                                + (f' (ed: {trouble})' if trouble else ''))
            first = last = ones[1]
        if c.second:
            last = twos[-1]
            if len(twos) < 2 or last <= first:
                raise EditError(f'{where}: second anchor /{c.second}/ does not match '
                                f'after the first, /{c.first}/, in {label}')
            if last - first > MAX_DISTANCE:
                raise EditError(f'{where}: second anchor /{c.second}/ is '
                                f'{last - first} lines after the first, '
                                f'/{c.first}/, in {label} (limit {MAX_DISTANCE})')
        found.append((first, last))
    if trouble or len(found) != len(commands):
        raise EditError(f'{name}: ed fails in {label}: {trouble or "no output"}')
    return found


def expect(lines, commands, found):
    """Return the lines that the edit must give, and lines added and removed."""
    lines = list(lines)
    added = removed = 0
    for c, (first, last) in zip(commands, found):
        if c.verb == 'a':
            lines[last:last] = c.text
        elif c.verb == 'i':
            lines[last - 1:last - 1] = c.text
        else:
            lines[first - 1:last] = c.text
            removed += last - first + 1
        added += len(c.text)
    return lines, added, removed


def edit(commands, path, name, label):
    before = read_lines(path)
    found = locate(commands, path, name, label)
    wanted, added, removed = expect(before, commands, found)
    status, output = ed(path, script_of(commands))
    if status or output:
        why = ' '.join(output.split()) or 'no message'
        raise EditError(f'{name}: ed fails in {label}: {why} (exit {status})')
    after = read_lines(path)
    if len(after) != len(before) + added - removed or after != wanted:
        raise EditError(f'{name}: ed did not do in {label} what the edit says: '
                        f'{len(before)} lines became {len(after)}, '
                        f'{added} to add and {removed} to remove')


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('edit', metavar='EDIT', help='the edit, NAME.ed')
    parser.add_argument('file', metavar='FILE', nargs='?',
                        help='the file to edit in place (default: check the edit only)')
    parser.add_argument('--name', help='what to call EDIT in messages')
    parser.add_argument('--label', default='this kernel',
                        help='what to call the kernel in messages')
    parser.add_argument('--print', action='store_true',
                        help='print the script that ed is given')
    args = parser.parse_args()
    name = args.name or args.edit
    try:
        commands = parse(args.edit, name)
        if args.print:
            sys.stdout.buffer.write(script_of(commands).encode('utf-8', 'surrogateescape'))
        if args.file:
            edit(commands, args.file, name, args.label)
    except EditError as e:
        message = str(e)
    except OSError as e:
        message = f'{name}: {e.strerror}: {e.filename or args.file or args.edit}'
    else:
        return 0
    print(message.encode('utf-8', 'surrogateescape').decode('utf-8', 'replace'),
          file=sys.stderr)
    return 1


if __name__ == '__main__':
    sys.exit(main())
