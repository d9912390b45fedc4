/** The secret of an invitation: `inv_` and 32 base-62 symbols (190 bits). At rest only its SHA-256. */
import { randomInt } from 'node:crypto';

const symbols = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const shape = /^inv_[0-9A-Za-z]{32}$/;

export const newInvitationSecret = (): string =>
  `inv_${Array.from({ length: 32 }, () => symbols[randomInt(62)] ?? '').join('')}`;

/** Whether the text can be one at all; what cannot costs no SQL. */
export const isInvitationSecret = (text: string): boolean => shape.test(text);
