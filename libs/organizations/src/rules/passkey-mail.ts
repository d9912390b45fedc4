/** The text of the e-mail about a change to a person's passkeys. The person may not have made the change. */
export interface PasskeyMail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

export interface PasskeyChange {
  readonly to: string;
  readonly change: 'added' | 'removed';
  /** The name of the passkey. */
  readonly name: string;
  /** The public URL of Muster, without a slash at the end. */
  readonly baseUrl: string;
}

const followed = {
  added: 'Whoever has it can sign in as you.',
  removed: 'It signs in no one any more. You can still sign in by a link to this address.',
} as const;

export const passkeyMail = ({ to, change, name, baseUrl }: PasskeyChange): PasskeyMail => ({
  to,
  subject: `A passkey was ${change}: ${name}`,
  text: `The passkey "${name}" was ${change} ${change === 'added' ? 'to' : 'from'} your account on Muster. ${followed[change]}\n\nIf it was not you, sign in, look at your passkeys, and sign out all other browsers:\n\n  ${baseUrl}/sign-in/passkeys\n`,
});
