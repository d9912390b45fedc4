/**
 * Agents for this property: shell scripts, and one that uses the Agent Client Protocol. Each adds a line to
 * the ledger for each written file.
 */
import path from 'node:path';

/** Writes a file with random content, and then its hash to the ledger outside the worktree. */
const write = (ledger: string): string =>
  `write() { head -c 24 /dev/urandom | od -An -tx1 > "$1.part" && mv "$1.part" "$1" && git hash-object "$1" >> '${ledger}'; }`;

const steps = (ledger: string): string => `${write(ledger)}
for n in 1 2 3 4; do write "work-$$-$n.txt"; sleep 0.1; done
git add --all && git commit --quiet --message "Half of it"
for n in 5 6 7; do write "work-$$-$n.txt"; sleep 0.1; done`;

const scripts = {
  'writes and ends': (ledger: string) => steps(ledger),
  'leaves processes behind': (ledger: string) => `setsid sleep 611 & sleep 612 &
${steps(ledger)}`,
  'writes, then dies': (ledger: string) => `${steps(ledger)}
kill -s KILL $$`,
  'never ends': (ledger: string) => `trap '' TERM
${steps(ledger)}
while :; do sleep 613; done`,
  'commits, then waits': (ledger: string) => `${steps(ledger)}
git add --all && git commit --quiet --message "All of it"
exec sleep 614`,
  'removes its folder': (ledger: string) => `${write(ledger)}
write one.txt
rm -rf "$PWD"`,
  'is busy in silence': (ledger: string) => `${write(ledger)}
write one.txt
while [ ! -e '${ledger}.end' ]; do :; done`,
} as const;

const talker = path.join(import.meta.dirname, 'acp-agent.ts');
const byProtocol = (ledger: string, end: 'ends' | 'hangs'): string[] => [
  ...['--acp', '--', process.execPath, talker, ledger, end],
];

/** Returns the arguments for `muster work` that start the agent. */
export type ProofAgent = (ledger: string) => readonly string[];
type ScriptName = keyof typeof scripts;
const byScript =
  (name: ScriptName): ProofAgent =>
  (ledger) => ['--', 'sh', '-c', scripts[name](ledger)];

export const agents = {
  'writes and ends': byScript('writes and ends'),
  'leaves processes behind': byScript('leaves processes behind'),
  'writes, then dies': byScript('writes, then dies'),
  'never ends': byScript('never ends'),
  'removes its folder': byScript('removes its folder'),
  'asks for permission': (ledger) => byProtocol(ledger, 'ends'),
  'asks, then hangs': (ledger) => byProtocol(ledger, 'hangs'),
  'commits, then waits': byScript('commits, then waits'),
  'is busy in silence': byScript('is busy in silence'),
} as const satisfies Record<string, ProofAgent>;
export type AgentName = keyof typeof agents;
/**
 * The agents among which a random course chooses. The other agents take part only in the courses of `chosen`.
 */
export const drawn = [
  'writes and ends',
  'leaves processes behind',
  'writes, then dies',
  'never ends',
  'removes its folder',
  'asks for permission',
  'asks, then hangs',
] as const satisfies readonly AgentName[];

/** Returns true for an agent that deletes its own files. */
export const losesFiles = (name: AgentName): boolean => name === 'removes its folder';
