import { type Check } from './check.ts';

const mostProblems = 5;
const nameWidth = 36;

export function show(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Prints a step's name, calls and time in columns, then its result. */
export function showStep(name: string, line: string, calls: number, millis: number): void {
  const seconds = `${(millis / 1000).toFixed(1)} s`;
  show(`  ${name.padEnd(nameWidth)}${`${calls} calls`.padStart(11)}${seconds.padStart(8)}   ${line}`);
}

export function showCheck({ name, detail, holds, problems }: Check): void {
  show(`  ${holds ? '✓' : '✗'} ${name}${detail === '' ? '' : ` (${detail})`}`);
  for (const problem of problems.slice(0, mostProblems)) show(`      ${problem}`);
  if (problems.length > mostProblems) show(`      … and ${problems.length - mostProblems} more`);
}
