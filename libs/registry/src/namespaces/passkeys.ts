import { z } from 'zod';
import { self } from '../kernel/access.ts';
import { notAsTool, operation } from '../kernel/operation.ts';
import { page, pageOf } from '../kernel/pagination.ts';
import { Deleted, Id } from '../kernel/values.ts';
import { Passkey, PasskeyName } from '../records/passkey.ts';

const passkeyId = '01936d5c-0000-7000-8000-0000000000d0';
const own = { access: self(), byMemberOnly: true, surfaces: notAsTool } as const;

export const passkeys = {
  list: operation({
    ...own,
    name: 'passkeys.list',
    effect: 'read',
    summary: 'List your passkeys',
    keywords: 'webauthn security keys fingerprint face devices sign in',
    description: `Oldest first. They are a person's, over all of their organizations. One is made at /sign-in/passkeys, in the browser that is to have it.`,
    params: z.strictObject({ ...page }),
    result: pageOf(Passkey),
    example: {},
  }),
  rename: operation({
    ...own,
    name: 'passkeys.rename',
    effect: 'write',
    idempotent: true,
    summary: 'Call one of your passkeys by another name',
    keywords: 'webauthn security key device',
    description: `The name is for you alone: it says which device this is.`,
    auditsRefusal: true,
    params: z.strictObject({ passkeyId: Id, name: PasskeyName }),
    result: z.object({ passkey: Passkey }),
    example: { passkeyId, name: 'My laptop' },
  }),
  delete: operation({
    ...own,
    name: 'passkeys.delete',
    effect: 'write',
    destructive: true,
    summary: 'Remove one of your passkeys',
    keywords: 'webauthn security key lost device stolen',
    description: `It no longer signs anyone in. Sessions that were begun with it go on: sessions.revoke ends them. You are told by e-mail.`,
    auditsRefusal: true,
    needsProof: true,
    params: z.strictObject({ passkeyId: Id }),
    result: Deleted,
    example: { passkeyId },
  }),
};
