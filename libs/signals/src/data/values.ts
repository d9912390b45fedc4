/** For hand-written SQL: its values, and the ids that references stand for. */
import { isUuid } from '@muster/registry';

/** Collects the values of a statement; `$(value)` is the placeholder that stands for it. */
export class Values {
  readonly list: unknown[] = [];
  /** The organization: every table is asked with it. */
  readonly org: string;

  constructor(orgId: string) {
    this.org = this.$(orgId);
  }

  $(value: unknown): string {
    return `$${this.list.push(value)}`;
  }

  uuid(value: string): string {
    return `${this.$(value)}::uuid`;
  }

  instant(value: string): string {
    return `${this.$(value)}::timestamptz`;
  }

  /** The id of the project that is meant by an id or a key. */
  projectId(ref: string): string {
    if (isUuid(ref)) return this.uuid(ref);
    return `(select p.id from projects p where p.org_id = ${this.org} and p.key = upper(${this.$(ref)}::text))`;
  }

  /** The id of the story that is meant by an id or a key. */
  storyId(ref: string): string {
    if (isUuid(ref)) return this.uuid(ref);
    const key = `${this.$(ref)}::text`;
    return `(select s.id from projects p join stories s on s.org_id = p.org_id and s.project_id = p.id
      where p.org_id = ${this.org} and p.key = upper(split_part(${key}, '-', 1))
        and s.number = split_part(${key}, '-', 2)::int)`;
  }
}
