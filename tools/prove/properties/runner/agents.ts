/** Agents written for the property, as scripts of the shell. Each file that was written is a line of the ledger. */

/** Writes a file no other has, and then says so outside of the worktree. */
const write = (ledger: string): string =>
  `write() { head -c 24 /dev/urandom | od -An -tx1 > "$1.part" && mv "$1.part" "$1" && git hash-object "$1" >> '${ledger}'; }`;

const steps = (ledger: string): string => `${write(ledger)}
for n in 1 2 3 4; do write "work-$$-$n.txt"; sleep 0.1; done
git add --all && git commit --quiet --message "Half of it"
for n in 5 6 7; do write "work-$$-$n.txt"; sleep 0.1; done`;

export const agents = {
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
} as const;
export type AgentName = keyof typeof agents;
export const agentNames = Object.keys(agents) as AgentName[];

/** Its files are gone by its own doing. */
export const losesFiles = (name: AgentName): boolean => name === 'removes its folder';
