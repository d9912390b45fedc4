/** A rule that must hold, and the problems that were found when the rule was checked. */
export class Check {
  readonly name: string;
  /** The numbers of records that were checked. */
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

  /** Adds a problem if the condition is false. */
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

/** Creates a check. `look` adds the problems to the check and returns its detail text. */
export function check(name: string, look: (check: Check) => string): Check {
  const made = new Check(name);
  made.detail = look(made);
  return made;
}
