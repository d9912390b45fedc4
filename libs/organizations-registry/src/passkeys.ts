import { z } from 'zod';
import {
  selfAccess,
  surfacesWithoutTool,
  operation,
  pageParams,
  pageSchemaOf,
  Deleted,
  Id,
  Passkey,
  PasskeyName,
} from '@muster/contract';

const passkeyId = '01936d5c-0000-7000-8000-0000000000d0';
const ownAccess = { access: selfAccess(), byMemberOnly: true, surfaces: surfacesWithoutTool } as const;

export const passkeys = {
  list: operation({
    ...ownAccess,
    name: 'passkeys.list',
    effect: 'read',
    summary: 'List your passkeys',
    keywords: 'webauthn security keys fingerprint face devices sign in',
    description:
      'Oldest first. Passkeys belong to a person, across all of their organizations. Create one at /sign-in/passkeys, in the browser that will use it.',
    params: z.strictObject({ ...pageParams }),
    result: pageSchemaOf(Passkey),
    example: {},
  }),
  rename: operation({
    ...ownAccess,
    name: 'passkeys.rename',
    effect: 'write',
    idempotent: true,
    summary: 'Rename one of your passkeys',
    keywords: 'webauthn security key device',
    description: 'Only you see the name; it helps you recognize the device.',
    auditsRefusal: true,
    params: z.strictObject({ passkeyId: Id, name: PasskeyName }),
    result: z.object({ passkey: Passkey }),
    example: { passkeyId, name: 'My laptop' },
  }),
  delete: operation({
    ...ownAccess,
    name: 'passkeys.delete',
    effect: 'write',
    destructive: true,
    summary: 'Remove one of your passkeys',
    keywords: 'webauthn security key lost device stolen',
    description:
      'It can no longer be used to sign in. Sessions that it started stay active; end them with sessions.revoke. You are notified by e-mail.',
    auditsRefusal: true,
    needsProof: true,
    params: z.strictObject({ passkeyId: Id }),
    result: Deleted,
    example: { passkeyId },
  }),
};
