/** Something that must hold, and what spoke against it. */
export class Check {
  readonly name: string;
  /** What was looked at, in numbers. */
  detail = '';
  readonly problems: string[] = [];

  constructor(name: string) {
    this.name = name;
  }

  get holds(): boolean {
    return this.problems.length === 0;
  }

  fail(problem: string): void {
    this.problems.push(problem);
  }

  /** `problem` is made only where it is needed. */
  that(holds: boolean, problem: () => string): void {
    if (!holds) this.problems.push(problem());
  }

  same(actual: unknown, expected: unknown, what: string): void {
    const [is, wanted] = [JSON.stringify(actual), JSON.stringify(expected)];
    if (is !== wanted) this.problems.push(`${what} is ${shorten(is)}, not ${shorten(wanted)}`);
  }
}

const shorten = (text: string | undefined): string =>
  text === undefined ? 'nothing' : text.length > 120 ? `${text.slice(0, 117)}…` : text;

/** Makes a check by collecting what speaks against it. `look` answers the detail. */
export function check(name: string, look: (check: Check) => string): Check {
  const made = new Check(name);
  made.detail = look(made);
  return made;
}
