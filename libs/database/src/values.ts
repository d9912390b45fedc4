/** For hand-written SQL: its values, and the ids that references stand for. */
import { isUuid } from '@muster/registry';

/** A pattern for `like` that finds the text anywhere, literally. */
export const containing = (text: string): string => `%${text.replaceAll(/[\\%_]/g, '\\$&')}%`;

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
    return `(select p.id from projects p where p.org_id = ${this.org} and p.key = ${this.$(ref.toUpperCase())})`;
  }

  /** A set of `(ord, id)`: in the order named, counted from 1, the ids of stories; null where a key means none. */
  stories(refs: readonly string[]): string {
    const ids = refs.map((ref) => (isUuid(ref) ? ref : null));
    const keys = refs.map((ref) => (isUuid(ref) ? null : ref.toUpperCase().split('-')));
    const projects = keys.map((key) => key?.[0] ?? null);
    const numbers = keys.map((key) => (key === null ? null : Number(key[1])));
    return `(select r.ord::int as ord, coalesce(r.id, k.id) as id
      from unnest(${this.$(ids)}::uuid[], ${this.$(projects)}::text[], ${this.$(numbers)}::int[])
        with ordinality r (id, project_key, number, ord)
      left join projects p on p.org_id = ${this.org} and p.key = r.project_key
      left join stories k on k.org_id = ${this.org} and k.project_id = p.id and k.number = r.number)`;
  }

  /** The id of the story that is meant by an id or a key. */
  storyId(ref: string): string {
    if (isUuid(ref)) return this.uuid(ref);
    const dash = ref.indexOf('-');
    const project = this.projectId(ref.slice(0, dash));
    return `(select k.id from stories k
      where k.org_id = ${this.org} and k.project_id = ${project} and k.number = ${this.$(Number(ref.slice(dash + 1)))})`;
  }
}
