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

const consequenceByChange = {
  added: 'Anyone who has it can sign in as you.',
  removed: 'It can no longer be used to sign in. You can still sign in with a link sent to this address.',
} as const;

export const renderPasskeyMail = ({ to, change, name, baseUrl }: PasskeyChange): PasskeyMail => ({
  to,
  subject: `A passkey was ${change}: ${name}`,
  text: `The passkey "${name}" was ${change} ${change === 'added' ? 'to' : 'from'} your account on Muster. ${consequenceByChange[change]}\n\nIf this wasn’t you, sign in, check your passkeys and sign out all other browsers:\n\n  ${baseUrl}/sign-in/passkeys\n`,
});
