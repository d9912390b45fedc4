/**
 * Requests as Okta and Microsoft Entra ID send them, by their public documentation, and a client that sends them.
 */
import { type RawAnswer, type TestApi } from './api.ts';

export const scimType = 'application/scim+json';

export interface ScimClient {
  send(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<RawAnswer>;
  get(path: string): Promise<RawAnswer>;
  /** Finds resources by a filter and returns the answer's Resources. */
  find(resource: 'Users' | 'Groups', filter: string): Promise<Record<string, unknown>[]>;
}

export function scimClient(api: Pick<TestApi, 'request'>, token: string): ScimClient {
  const send: ScimClient['send'] = (method, path, body, headers = {}) =>
    api.request(`/scim/v2/${path}`, {
      ...{ method, token },
      ...(body !== undefined && { body }),
      headers: { 'content-type': scimType, ...headers },
    });
  return {
    send,
    get: (path) => send('GET', path),
    find: async (resource, filter) => {
      const { status, body } = await send('GET', `${resource}?filter=${encodeURIComponent(filter)}`);
      if (status !== 200) throw new Error(`${filter} was answered with ${status}`);
      return body['Resources'] as Record<string, unknown>[];
    },
  };
}

const userSchema = 'urn:ietf:params:scim:schemas:core:2.0:User';
const groupSchema = 'urn:ietf:params:scim:schemas:core:2.0:Group';
const patchOf = (...operations: object[]) => ({
  schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
  Operations: operations,
});

interface Person {
  readonly userName: string;
  readonly givenName: string;
  readonly familyName: string;
  readonly externalId: string;
}

/** Okta: it creates with POST, changes profiles with PUT, and ends access with a PATCH without a path. */
export const okta = {
  user: ({ userName, givenName, familyName, externalId }: Person, active = true) => ({
    schemas: [userSchema],
    userName,
    name: { givenName, familyName },
    emails: [{ primary: true, value: userName, type: 'work' }],
    displayName: `${givenName} ${familyName}`,
    locale: 'en-US',
    externalId,
    groups: [],
    password: 'unused-1Abcdefg',
    active,
  }),
  setActive: (active: boolean) => patchOf({ op: 'replace', value: { active } }),
  group: (displayName: string) => ({ schemas: [groupSchema], displayName, members: [] }),
  renameGroup: (id: string, displayName: string) => patchOf({ op: 'replace', value: { id, displayName } }),
  addMembers: (...members: { value: string; display: string }[]) =>
    patchOf({ op: 'add', path: 'members', value: members }),
  removeMember: (id: string) => patchOf({ op: 'remove', path: `members[value eq "${id}"]` }),
  replaceMembers: (...members: { value: string; display: string }[]) =>
    patchOf({ op: 'replace', path: 'members', value: members }),
};

/** Microsoft Entra ID: operations begin with a capital letter, and truth values are texts. */
export const entra = {
  user: ({ userName, givenName, familyName, externalId }: Person) => ({
    schemas: [userSchema, 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User'],
    externalId,
    userName,
    active: true,
    addresses: null,
    displayName: `${givenName} ${familyName}`,
    emails: [{ type: 'work', value: userName, primary: true }],
    meta: { resourceType: 'User' },
    name: { formatted: `${givenName} ${familyName}`, familyName, givenName },
    roles: [],
    title: null,
  }),
  setActive: (active: 'True' | 'False') => patchOf({ op: 'Replace', path: 'active', value: active }),
  changeProfile: (familyName: string, displayName: string, email: string) =>
    patchOf(
      { op: 'Replace', path: 'displayName', value: displayName },
      { op: 'Replace', path: 'emails[type eq "work"].value', value: email },
      { op: 'Add', path: 'name.familyName', value: familyName },
      {
        op: 'Add',
        path: 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department',
        value: 'R&D',
      },
    ),
  changeFlattened: (values: Record<string, unknown>) => patchOf({ op: 'replace', value: values }),
  group: (displayName: string, externalId: string) => ({
    schemas: [groupSchema, 'http://schemas.microsoft.com/2006/11/ResourceManagement/ADSCIM/2.0/Group'],
    externalId,
    displayName,
    meta: { resourceType: 'Group' },
  }),
  addMember: (id: string) => patchOf({ op: 'Add', path: 'members', value: [{ $ref: null, value: id }] }),
  removeMember: (id: string) =>
    patchOf({ op: 'Remove', path: 'members', value: [{ $ref: null, value: id }] }),
  removeMemberByPath: (id: string) => patchOf({ op: 'Remove', path: `members[value eq "${id}"]` }),
};
