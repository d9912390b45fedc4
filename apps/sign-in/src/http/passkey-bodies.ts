/**
 * Request bodies with passkeys, in the format of `PublicKeyCredential.toJSON`. The library verifies their
 * contents.
 */
import { PasskeyName } from '@muster/contract';
import { z } from 'zod';

const Base64UrlText = z
  .string()
  .max(64 * 1024)
  .regex(/^[\w-]*$/);
const CredentialId = Base64UrlText.min(1).max(1364);
const credentialFields = {
  id: CredentialId,
  rawId: CredentialId,
  type: z.literal('public-key'),
  clientExtensionResults: z.object({}),
};

export const PasskeyRegistrationBody = z.object({
  name: PasskeyName,
  response: z.object({
    ...credentialFields,
    response: z.object({
      clientDataJSON: Base64UrlText,
      attestationObject: Base64UrlText,
      transports: z.array(z.string().max(32)).max(8).default([]),
    }),
  }),
});

export const PasskeyAuthenticationBody = z.object({
  to: z.string().max(2_000).optional(),
  response: z.object({
    ...credentialFields,
    response: z.object({
      clientDataJSON: Base64UrlText,
      authenticatorData: Base64UrlText,
      signature: Base64UrlText,
    }),
  }),
});
