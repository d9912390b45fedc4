/**
 * Reads the attributes of users and groups from what identity providers send. Names of attributes are compared
 * without regard to case, and unknown attributes are ignored, since identity providers send whole profiles.
 */
import {
  badRequest,
  EmailAddress,
  isUuid,
  maxScimMembersPerRequest,
  MemberName,
  scimAttributeName,
  type ScimPatchOperation,
  TeamName,
} from '@muster/contract';
import { type Filter } from 'scim2-parse-filter';
import { z } from 'zod';
import { parseFilter } from './filter.ts';

type AttributeValues = ReadonlyMap<string, unknown>;
interface AttributeChange {
  readonly op: ScimPatchOperation['op'];
  /** The attribute in lower case, such as `name.givenname`. */
  readonly name: string;
  /** The filter in brackets after the name; null without one. */
  readonly filter: Filter | null;
  readonly value: unknown;
}

const invalidValue = (path: string, message: string) =>
  badRequest(`${path} ${message}.`, [{ path, message }]);

const pathPattern = /^([a-z][\w$:.-]*)(?:\[(.*)\](?:\.([a-z][\w$-]*))?)?$/is;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Lists the attributes of a resource, those of `name` one by one. */
function* attributesOf(resource: Record<string, unknown>, prefix = ''): Generator<[string, unknown]> {
  for (const [key, value] of Object.entries(resource)) {
    const name = prefix + scimAttributeName(key);
    if (isObject(value) && (name === 'name' || name === '')) yield* attributesOf(value, name && `${name}.`);
    else yield [name, value];
  }
}

/** Splits PATCH operations into changes of single attributes. Throws 400 for an invalid path. */
function* changesOf(operations: readonly ScimPatchOperation[]): Generator<AttributeChange> {
  for (const [index, { op, path, value }] of operations.entries()) {
    if (path === undefined || path === '') {
      if (op === 'remove')
        throw badRequest('remove needs a path.', [{ path: 'noTarget', message: 'is missing' }]);
      if (!isObject(value))
        throw invalidValue(`Operations[${index}].value`, 'must be an object without a path');
      for (const [name, inner] of attributesOf(value)) yield { op, name, filter: null, value: inner };
      continue;
    }
    const [, attribute, filterText, subAttribute] = pathPattern.exec(path.trim()) ?? [];
    if (attribute === undefined)
      throw badRequest('The path is invalid.', [{ path: 'path', message: path.slice(0, 200) }]);
    const filter = filterText === undefined ? null : parseFilter(filterText);
    const name = scimAttributeName(attribute) + (subAttribute ? `.${subAttribute.toLowerCase()}` : '');
    if (name === 'name' && isObject(value))
      for (const [part, inner] of attributesOf({ name: value }))
        yield { op, name: part, filter, value: inner };
    else yield { op, name, filter, value };
  }
}

/** The attributes of a user that were sent. Null clears an optional one. */
export interface UserAttributes {
  readonly userName?: string;
  readonly externalId?: string | null;
  readonly displayName?: string | null;
  readonly formattedName?: string | null;
  readonly givenName?: string | null;
  readonly familyName?: string | null;
  readonly active?: boolean;
}

/** Converts an empty optional value to null. */
const clearableSchema = <Schema extends z.ZodType>(schema: Schema) =>
  z.preprocess((value) => (value === '' ? null : value), schema.nullable());
const ExternalId = clearableSchema(z.string().max(255));
const OptionalName = clearableSchema(MemberName);
/** Microsoft Entra ID sends a text. */
const Active = z.preprocess(
  (value) =>
    typeof value === 'string' && /^(?:true|false)$/i.test(value) ? value.toLowerCase() === 'true' : value,
  z.boolean(),
);

interface Field {
  readonly field: string;
  readonly path: string;
  readonly schema: z.ZodType;
  readonly isRequired?: true;
}
const userFields: Readonly<Record<string, Field>> = {
  username: { field: 'userName', path: 'userName', schema: EmailAddress, isRequired: true },
  externalid: { field: 'externalId', path: 'externalId', schema: ExternalId },
  displayname: { field: 'displayName', path: 'displayName', schema: OptionalName },
  'name.formatted': { field: 'formattedName', path: 'name.formatted', schema: OptionalName },
  'name.givenname': { field: 'givenName', path: 'name.givenName', schema: OptionalName },
  'name.familyname': { field: 'familyName', path: 'name.familyName', schema: OptionalName },
  active: { field: 'active', path: 'active', schema: Active, isRequired: true },
};
const groupFields: Readonly<Record<string, Field>> = {
  displayname: { field: 'displayName', path: 'displayName', schema: TeamName, isRequired: true },
  externalid: { field: 'externalId', path: 'externalId', schema: ExternalId },
};

function readFields(fields: typeof userFields, values: AttributeValues): Record<string, unknown> {
  const read: Record<string, unknown> = {};
  for (const [name, { field, path, schema }] of Object.entries(fields)) {
    if (!values.has(name)) continue;
    const result = schema.safeParse(values.get(name));
    if (!result.success) throw invalidValue(path, result.error.issues[0]?.message ?? 'is invalid');
    read[field] = result.data;
  }
  return read;
}

export const readUser = (resource: Record<string, unknown>): UserAttributes =>
  readFields(userFields, new Map(attributesOf(resource)));

export function readUserPatch(operations: readonly ScimPatchOperation[]): UserAttributes {
  const values = new Map<string, unknown>();
  for (const { op, name, value } of changesOf(operations))
    collectField(values, userFields, { op, name, value });
  return readFields(userFields, values);
}

function collectField(
  values: Map<string, unknown>,
  fields: typeof userFields,
  { op, name, value }: Omit<AttributeChange, 'filter'>,
): void {
  if (op !== 'remove') values.set(name, value);
  else if (fields[name]?.isRequired === true) throw invalidValue(fields[name].path, 'is required');
  else values.set(name, null);
}

/** The requested change of a group. */
export interface GroupAttributes {
  readonly displayName?: string;
  readonly externalId?: string | null;
  readonly members: MembersChange;
}

export interface MembersChange {
  /** True if members who are not in `added` leave the group. */
  readonly isReplacement: boolean;
  readonly added: ReadonlySet<string>;
  readonly removed: ReadonlySet<string>;
}

const MemberRefs = z
  .preprocess(
    (value): unknown[] => (Array.isArray(value) ? value : [value]),
    z.array(z.object({ value: z.string() })),
  )
  .transform((refs) => refs.map(({ value }) => value.toLowerCase()));

function readMemberIds(value: unknown): string[] {
  const { success, data } = MemberRefs.safeParse(value);
  if (!success) throw invalidValue('members', 'must be a list of objects with a value');
  return data;
}

/** Returns the ids in a filter such as `value eq "…"`. */
function idsInFilter(filter: Filter): string[] {
  if (filter.op === 'or' && 'filters' in filter) return filter.filters.flatMap(idsInFilter);
  if (filter.op === 'eq' && 'compValue' in filter && filter.attrPath.toLowerCase() === 'value')
    return [String(filter.compValue).toLowerCase()];
  throw badRequest('Members can be filtered only by value eq.', [
    { path: 'filter', message: 'must be value eq "…"' },
  ]);
}

/** Collects changes of members in their order. */
class MembersChangeBuilder {
  #isReplacement: boolean;
  readonly #added = new Set<string>();
  readonly #removed = new Set<string>();

  constructor(isReplacement: boolean) {
    this.#isReplacement = isReplacement;
  }

  add(ids: readonly string[]): void {
    for (const id of ids) {
      if (!isUuid(id))
        throw invalidValue('members', `must contain ids of users; ${id.slice(0, 100)} is not one`);
      this.#added.add(id);
      this.#removed.delete(id);
    }
  }

  remove(ids: readonly string[]): void {
    for (const id of ids) {
      this.#added.delete(id);
      if (isUuid(id)) this.#removed.add(id);
    }
  }

  clear(): void {
    this.#isReplacement = true;
    this.#added.clear();
    this.#removed.clear();
  }

  build(): MembersChange {
    if (this.#added.size + this.#removed.size > maxScimMembersPerRequest)
      throw invalidValue('members', `must contain at most ${maxScimMembersPerRequest} users`);
    return { isReplacement: this.#isReplacement, added: this.#added, removed: this.#removed };
  }
}

export function readGroup(resource: Record<string, unknown>): GroupAttributes {
  const values = new Map(attributesOf(resource));
  const members = new MembersChangeBuilder(true);
  const sent = values.get('members');
  if (sent !== undefined && sent !== null) members.add(readMemberIds(sent));
  return { ...readFields(groupFields, values), members: members.build() };
}

export function readGroupPatch(operations: readonly ScimPatchOperation[]): GroupAttributes {
  const values = new Map<string, unknown>();
  const members = new MembersChangeBuilder(false);
  for (const change of changesOf(operations)) {
    const { op, name, filter, value } = change;
    if (name !== 'members') collectField(values, groupFields, change);
    else if (op === 'remove') {
      if (filter !== null) members.remove(idsInFilter(filter));
      else if (value === undefined || value === null) members.clear();
      else members.remove(readMemberIds(value));
    } else {
      if (op === 'replace' && filter === null) members.clear();
      members.add(readMemberIds(value));
    }
  }
  return { ...readFields(groupFields, values), members: members.build() };
}
