/**
 * Addresses for replies to notification mails. The part before the @ is signed. It names the organization and the
 * notification, which has a recipient and a story. It has 64 characters, the limit of RFC 5321, and is not
 * case-sensitive, because some mail servers change the case.
 */
import { createSigner } from './signer.ts';

const uuidBytes = 16;
const signatureBytes = 8;
/** Each character of the radix 32 stands for 5 bits. */
const radix = 32;
const localPartLength = ((2 * uuidBytes + signatureBytes) * 8) / 5;

/** A notification that a reply address names. */
export interface ReplyTarget {
  readonly orgId: string;
  readonly notificationId: string;
}

export interface ParsedReplyAddress extends ReplyTarget {
  readonly signature: Buffer;
}

export interface ReplyAddresses {
  readonly addressOf: (organizationKey: Buffer, target: ReplyTarget) => string;
  /** Parses an address; undefined if it is none of this domain. The signature is not verified. */
  readonly parse: (address: string) => ParsedReplyAddress | undefined;
  /** Returns true if a configured key has signed the address. */
  readonly isSigned: (organizationKey: Buffer, address: ParsedReplyAddress) => boolean;
}

const bytesOfUuid = (uuid: string): Buffer => Buffer.from(uuid.replaceAll('-', ''), 'hex');
const uuidOf = (bytes: Buffer): string =>
  bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');

/** Creates the functions for a domain. The first key signs, and any key verifies. */
export function createReplyAddresses(domain: string, keys: readonly string[]): ReplyAddresses {
  const signer = createSigner(keys, 'muster replies by mail', signatureBytes);
  const contentOf = ({ orgId, notificationId }: ReplyTarget): Buffer =>
    Buffer.concat([bytesOfUuid(orgId), bytesOfUuid(notificationId)]);
  return {
    addressOf: (organizationKey, target) => {
      const content = contentOf(target);
      const bytes = Buffer.concat([content, signer.sign(organizationKey, content)]);
      const local = BigInt(`0x${bytes.toString('hex')}`)
        .toString(radix)
        .padStart(localPartLength, '0');
      return `${local}@${domain}`;
    },
    parse: (address) => {
      const [local, host, ...rest] = address.toLowerCase().split('@');
      if (local === undefined || host !== domain.toLowerCase() || rest.length > 0) return undefined;
      if (local.length !== localPartLength || !/^[0-9a-v]+$/.test(local)) return undefined;
      const digits = Array.from(local, (digit) => BigInt(Number.parseInt(digit, radix)));
      const value = digits.reduce((sum, digit) => sum * 32n + digit, 0n);
      const bytes = Buffer.from(value.toString(16).padStart((localPartLength * 5) / 4, '0'), 'hex');
      return {
        orgId: uuidOf(bytes.subarray(0, uuidBytes)),
        notificationId: uuidOf(bytes.subarray(uuidBytes, 2 * uuidBytes)),
        signature: bytes.subarray(2 * uuidBytes),
      };
    },
    isSigned: (organizationKey, { signature, ...target }) =>
      signer.isSigned(organizationKey, contentOf(target), signature),
  };
}
