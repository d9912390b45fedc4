/**
 * Request bodies with passkeys, in the format of `PublicKeyCredential.toJSON`. The library verifies their
 * contents.
 */
import { PasskeyName } from '@muster/registry';
import { z } from 'zod';

const Encoded = z
  .string()
  .max(64 * 1024)
  .regex(/^[\w-]*$/);
const CredentialId = Encoded.min(1).max(1364);
const common = {
  id: CredentialId,
  rawId: CredentialId,
  type: z.literal('public-key'),
  clientExtensionResults: z.object({}),
};

export const RegisteredPasskey = z.object({
  name: PasskeyName,
  response: z.object({
    ...common,
    response: z.object({
      clientDataJSON: Encoded,
      attestationObject: Encoded,
      transports: z.array(z.string().max(32)).max(8).default([]),
    }),
  }),
});

export const ProofOfPasskey = z.object({
  to: z.string().max(2_000).optional(),
  response: z.object({
    ...common,
    response: z.object({
      clientDataJSON: Encoded,
      authenticatorData: Encoded,
      signature: Encoded,
    }),
  }),
});
