/** Passkeys: credentials on a person's device that prove their identity. */
import { z } from 'zod';
import { Id, nameText, Time } from '../kernel/values.ts';

export const PasskeyName = nameText(120);

export const Passkey = z
  .object({
    id: Id,
    name: z.string(),
    synced: z.boolean().describe('Whether it is synchronized to other devices'),
    createdAt: Time,
    lastUsedAt: Time.nullable(),
  })
  .meta({ id: 'Passkey' });
export type Passkey = z.infer<typeof Passkey>;
