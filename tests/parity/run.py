#!/usr/bin/env python3
"""Every answer of our XProf-compatible routes against XProf's own, one JUnit case a tool.

    tests/parity/run.py --binary build/strobe --work build/parity --junit build/test-logs/parity.xml
    tests/parity/run.py ... --live build/venv-peers/bin/xprof       the wheel itself instead of its recorded answers

Lays the real sessions (compressed ones unpacked) and the derived ones below WORK/sessions, once; starts our server on
a free port; lets the comparison program of the corpus ask both and judge by meaning. docs/parity.tsv holds the differences
that are ours on purpose. Fails on any other. The corpus is found at ../shared/data from the repository's root or at
$STROBE_CORPUS, its programs in `tools` beside it; without them nothing is tested, and that is said.
"""

import argparse
import collections
import lzma
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
import xml.sax.saxutils

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# A request that finds the machine busy; a tool of the largest session takes seconds.
ANSWER_TIMEOUT_S = 300
START_TIMEOUT_S = 60
# Runs that answer with nothing but differences are cut here in the report; all of them are in report.tsv.
SHOWN_PER_TOOL = 20


def corpus_folders():
    data = os.environ.get('STROBE_CORPUS') or os.path.join(ROOT, '..', 'shared', 'data')
    data = os.path.abspath(data)
    programs = os.path.join(os.path.dirname(data), 'tools')
    goldens = os.path.join(data, 'xprof_goldens', '2.24.2')
    wanted = [os.path.join(data, 'sessions'), goldens, os.path.join(programs, 'parity.py'),
              os.path.join(programs, 'derive_sessions.py')]
    missing = [path for path in wanted if not os.path.exists(path)]
    return data, programs, goldens, missing


def lay_sessions(data, programs, work):
    """Sessions as a server finds them: links to the real files, unpacked where packed, and the derived ones."""
    out = os.path.join(work, 'sessions')
    stamp = os.path.join(work, 'laid')
    mark = '2 ' + os.path.realpath(data)
    if os.path.exists(stamp) and open(stamp).read() == mark:
        return out
    shutil.rmtree(out, ignore_errors=True)
    source = os.path.join(data, 'sessions')
    for folder, _, files in os.walk(source):
        target = os.path.join(out, os.path.relpath(folder, source))
        os.makedirs(target, exist_ok=True)
        for name in files:
            path = os.path.join(folder, name)
            if name.endswith('.xplane.pb.xz'):
                with lzma.open(path) as packed, open(os.path.join(target, name[:-3]), 'wb') as plain:
                    shutil.copyfileobj(packed, plain)
            else:
                os.symlink(path, os.path.join(target, name))
    subprocess.run([sys.executable, os.path.join(programs, 'derive_sessions.py'), data, out], check=True,
                   stdout=subprocess.DEVNULL)
    with open(stamp, 'w') as stream:
        stream.write(mark)
    return out


def free_port():
    with socket.socket() as probe:
        probe.bind(('127.0.0.1', 0))
        return probe.getsockname()[1]


class Server:
    """Our server over the sessions; its log is kept beside the report."""

    def __init__(self, binary, sessions, work):
        self.url = 'http://127.0.0.1:%d' % free_port()
        self.log = open(os.path.join(work, 'server.log'), 'wb')
        self.process = subprocess.Popen(
            [binary, 'serve', sessions, '--listen', self.url[len('http://'):], '--no-cache', '--insecure-no-auth'],
            stdout=self.log, stderr=subprocess.STDOUT)

    def wait(self):
        deadline = time.monotonic() + START_TIMEOUT_S
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                raise RuntimeError('the server ended by itself; see server.log')
            try:
                with urllib.request.urlopen(self.url + '/runs', timeout=5) as answer:
                    if answer.status == 200:
                        return
            except OSError:
                time.sleep(0.1)
        raise RuntimeError('the server did not answer within %d s; see server.log' % START_TIMEOUT_S)

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()


def read_report(path):
    """tool -> Counter of results, and tool -> the lines that failed."""
    counts, failed = collections.OrderedDict(), collections.defaultdict(list)
    if not os.path.exists(path):
        return counts, failed
    with open(path, encoding='utf-8') as stream:
        next(stream, None)
        for line in stream:
            state, run, tool, request, _, first = (line.rstrip('\n').split('\t') + [''] * 6)[:6]
            counts.setdefault(tool, collections.Counter())[state] += 1
            if state in ('differs', 'missing', 'error'):
                failed[tool].append('%s %s %s: %s' % (state, run, request, first))
    return counts, failed


def clean(text):
    """Text that XML can hold."""
    return re.sub(r'[^\x09\x0a\x20-\ud7ff\ue000-\ufffd]', '?', text)


def write_junit(path, counts, failed, trouble):
    os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    escape = xml.sax.saxutils.escape
    with open(path, 'w', encoding='utf-8') as stream:
        stream.write('<?xml version="1.0" encoding="UTF-8"?>\n<testsuites><testsuite name="parity">\n')
        for tool, states in counts.items():
            summary = ', '.join('%d %s' % (n, state) for state, n in sorted(states.items()))
            stream.write('<testcase classname="parity" name=%s>' %
                         xml.sax.saxutils.quoteattr('%s (%s)' % (tool, summary)))
            if failed[tool]:
                stream.write('<failure>%s</failure>' % escape(clean('\n'.join(failed[tool][:SHOWN_PER_TOOL]))))
            stream.write('</testcase>\n')
        if trouble:
            stream.write('<testcase classname="parity" name="comparison"><error>%s</error></testcase>\n' %
                         escape(clean(trouble)))
        stream.write('</testsuite></testsuites>\n')


def print_counts(counts):
    total = collections.Counter()
    for tool, states in sorted(counts.items()):
        total.update(states)
        good = states['equal'] + states['known']
        print('  %-26s %5d of %5d%s' % (tool, good, sum(states.values()), ''.join(
            ', %d %s' % (states[s], s) for s in ('known', 'differs', 'missing', 'error') if states[s])))
    good = total['equal'] + total['known']
    print('parity: %d of %d answers equal or explained (%d explained)' % (good, sum(total.values()), total['known']))
    return sum(total.values()) - good


def check_known(path):
    """Lines that are too wide to explain anything: what is named must be a tool and a place in its answer."""
    wrong = []
    if not os.path.exists(path):
        return ['%s is missing' % path]
    with open(path, encoding='utf-8') as stream:
        for number, line in enumerate(stream, 1):
            line = line.rstrip('\n')
            if not line or line.startswith('#'):
                continue
            parts = line.split('\t')
            if len(parts) != 3 or not all(part.strip() for part in parts):
                wrong.append('line %d: expected tool, path and reason, tab separated' % number)
            elif not parts[0].strip('*?') or not parts[1].strip('*?'):
                wrong.append('line %d: explains a whole tool or every tool; name the place' % number)
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--binary', default=os.path.join(ROOT, 'build', 'strobe'))
    parser.add_argument('--work', default=os.path.join(ROOT, 'build', 'parity'))
    parser.add_argument('--junit', help='write a JUnit report here')
    parser.add_argument('--known', default=os.path.join(ROOT, 'docs', 'parity.tsv'))
    parser.add_argument('--live', metavar='XPROF', help='compare with this xprof program instead of recorded answers')
    parser.add_argument('--tool', help='only these tools (a glob)')
    parser.add_argument('--session', help='only these sessions (a glob)')
    parser.add_argument('--verbose', action='store_true', help='print each difference')
    args = parser.parse_args()

    data, programs, goldens, missing = corpus_folders()
    if missing:
        print('NOT TESTED: parity needs the corpus of real profiles and its programs; missing: ' + ', '.join(missing))
        return 0
    os.makedirs(args.work, exist_ok=True)
    report = os.path.join(args.work, 'report.tsv')
    if os.path.exists(report):
        os.remove(report)
    trouble = '\n'.join(check_known(args.known))
    sessions = lay_sessions(data, programs, args.work)
    server = Server(args.binary, sessions, args.work)
    try:
        server.wait()
        command = [sys.executable, os.path.join(programs, 'parity.py'), '--candidate', server.url, '--report', report,
                   '--known', args.known, '--timeout', str(ANSWER_TIMEOUT_S)]
        command += ['--xprof', args.live, '--logdir', sessions] if args.live else ['--goldens', goldens]
        for name in ('tool', 'session'):
            if getattr(args, name):
                command += ['--' + name, getattr(args, name)]
        with open(os.path.join(args.work, 'parity.log'), 'w', encoding='utf-8') as log:
            status = subprocess.run(command, stdout=log, stderr=subprocess.STDOUT).returncode
        if status not in (0, 1):
            trouble += '\nthe comparison could not start; see parity.log'
    finally:
        server.stop()
    if args.verbose or trouble:
        with open(os.path.join(args.work, 'parity.log'), encoding='utf-8') as log:
            sys.stdout.write(log.read())
    counts, failed = read_report(report)
    if not counts:
        trouble += '\nnothing was compared'
    bad = print_counts(counts)
    if trouble.strip():
        print(trouble.strip())
    if args.junit:
        write_junit(args.junit, counts, failed, trouble.strip())
    return 1 if bad or trouble.strip() else 0


if __name__ == '__main__':
    sys.exit(main())
