/** Resources of SCIM as they are answered (RFC 7643). */
import { badRequest, scimAttributeName, type ScimGroup, type ScimUser } from '@muster/contract';
import { isJsonObject } from '../json-object.ts';

export const scimPath = '/scim/v2';
export const userSchema = 'urn:ietf:params:scim:schemas:core:2.0:User';
export const groupSchema = 'urn:ietf:params:scim:schemas:core:2.0:Group';

export type ScimResource = Readonly<Record<string, unknown>> & { readonly id: string };

/** Omits attributes without a value. */
const withoutNullValues = (values: Readonly<Record<string, string | null>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) => (value === null ? [] : [[name, value]])),
  );

interface ResourceTimestamps {
  readonly id: string;
  readonly createdAt: string;
  readonly updatedAt: string;
}

const metaOf = (
  baseUrl: string,
  resourceType: 'User' | 'Group',
  { id, createdAt, updatedAt }: ResourceTimestamps,
) => ({
  resourceType,
  created: createdAt,
  lastModified: updatedAt,
  location: `${baseUrl}${scimPath}/${resourceType}s/${id}`,
});

/** Refers to other resources of a type. */
const refsTo = (
  baseUrl: string,
  resourceType: 'User' | 'Group',
  refs: readonly { readonly id: string; readonly name: string }[],
  type: string,
) =>
  refs.map(({ id, name }) => ({
    ...{ value: id, display: name, type },
    $ref: `${baseUrl}${scimPath}/${resourceType}s/${id}`,
  }));

export const renderUser =
  (baseUrl: string) =>
  (user: ScimUser): ScimResource => {
    const { id, userName, externalId, displayName, givenName, familyName, active, groups } = user;
    const formatted = [givenName, familyName].filter((part) => part !== null).join(' ') || displayName;
    return {
      schemas: [userSchema],
      id,
      ...withoutNullValues({ externalId }),
      userName,
      name: { formatted, ...withoutNullValues({ givenName, familyName }) },
      displayName,
      emails: [{ value: userName, type: 'work', primary: true }],
      active,
      groups: refsTo(baseUrl, 'Group', groups, 'direct'),
      meta: metaOf(baseUrl, 'User', user),
    };
  };

export const renderGroup =
  (baseUrl: string) =>
  (group: ScimGroup): ScimResource => {
    const { id, externalId, displayName, members } = group;
    return {
      schemas: [groupSchema],
      id,
      ...withoutNullValues({ externalId }),
      displayName,
      ...(members !== null && { members: refsTo(baseUrl, 'User', members, 'User') }),
      meta: metaOf(baseUrl, 'Group', group),
    };
  };

/** The attributes that a client asked for, or does not want. */
export interface AttributeSelection {
  readonly included: readonly string[] | null;
  readonly excluded: readonly string[];
}

const maxAttributesLength = 2_000;

function readAttributeNames(query: Readonly<Record<string, unknown>>, param: string): string[] | null {
  const { [param]: text } = query;
  if (text === undefined || text === '') return null;
  if (typeof text !== 'string' || text.length > maxAttributesLength)
    throw badRequest(`${param} is invalid.`, [
      { path: param, message: 'must be a list separated by commas' },
    ]);
  return text.split(',').map((name) => scimAttributeName(name.trim()));
}

export const readSelection = (query: Readonly<Record<string, unknown>>): AttributeSelection => ({
  included: readAttributeNames(query, 'attributes'),
  excluded: readAttributeNames(query, 'excludedAttributes') ?? [],
});

/** Returns true if the attribute or a part of it is answered. */
export const isSelected = (name: string, { included, excluded }: AttributeSelection): boolean =>
  !excluded.includes(name) &&
  (included === null || included.some((wanted) => wanted === name || wanted.startsWith(`${name}.`)));

const requiredAttributes: readonly string[] = ['schemas', 'id'];

/** Selects the parts of a complex attribute. */
function selectParts(value: unknown, name: string, selection: AttributeSelection): unknown {
  if (Array.isArray(value)) return value.map((item) => selectParts(item, name, selection));
  if (!isJsonObject(value) || selection.included?.includes(name) === true) return value;
  return Object.fromEntries(
    Object.entries(value).filter(([part]) => isSelected(`${name}.${part.toLowerCase()}`, selection)),
  );
}

export const selectAttributes = (resource: ScimResource, selection: AttributeSelection): object =>
  Object.fromEntries(
    Object.entries(resource).flatMap(([key, value]) => {
      const name = key.toLowerCase();
      if (requiredAttributes.includes(name)) return [[key, value]];
      return isSelected(name, selection) ? [[key, selectParts(value, name, selection)]] : [];
    }),
  );
