/** A mailer that sends by SMTP or writes into a folder. */
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createTransport, type SendMailOptions } from 'nodemailer';
import { type Logger } from 'pino';
import { removeBidiControls } from './bidi.ts';

/** The destination of mails. */
export type MailDestination = { readonly smtpUrl: string } | { readonly folder: string };

/**
 * Reads the destination of mails from the environment; undefined if it names none. SMTP takes precedence over
 * a folder.
 */
export function mailDestinationOf(environment: {
  readonly SMTP_URL?: string | undefined;
  readonly MAIL_FOLDER?: string | undefined;
}): MailDestination | undefined {
  const { SMTP_URL: smtpUrl, MAIL_FOLDER: folder } = environment;
  if (smtpUrl !== undefined) return { smtpUrl };
  return folder === undefined ? undefined : { folder };
}

export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html?: string | undefined;
  /** The address to which replies are sent, if it is not the sender. */
  readonly replyTo?: string | undefined;
}

export interface Mailer {
  /** Sends a mail. `id` becomes the Message-ID, so mail programs recognize a mail that was sent twice. */
  send(mail: Mail, id: string): Promise<void>;
  close(): void;
}

/** Timeouts that keep an unresponsive server from blocking a worker: only one attempt fails. */
const smtpTimeouts = {
  dnsTimeout: 5_000,
  connectionTimeout: 5_000,
  greetingTimeout: 5_000,
  socketTimeout: 10_000,
};

/** Forbids nodemailer to read files or fetch URLs for the content of a mail. */
const contentRestrictions = { disableFileAccess: true, disableUrlAccess: true };

export function createMailer(destination: MailDestination, from: string, logger: Logger): Mailer {
  const messageOf = ({ to, subject, text, html, replyTo }: Mail, id: string): SendMailOptions => ({
    from,
    to,
    subject: removeBidiControls(subject),
    text: removeBidiControls(text),
    ...(html !== undefined && { html: removeBidiControls(html) }),
    ...(replyTo !== undefined && { replyTo }),
    messageId: `<${id}@${/@([^\s>]+)/.exec(from)?.[1] ?? 'muster'}>`,
    // The header keeps automatic replies such as absence notices from answering the mail.
    headers: { 'Auto-Submitted': 'auto-generated' },
  });

  if ('smtpUrl' in destination) {
    const transport = createTransport({ url: destination.smtpUrl, ...smtpTimeouts, ...contentRestrictions });
    return {
      send: async (mail, id) => {
        await transport.sendMail(messageOf(mail, id));
      },
      close: () => {
        transport.close();
      },
    };
  }

  const { folder } = destination;
  const transport = createTransport({ streamTransport: true, buffer: true, ...contentRestrictions });
  return {
    send: async (mail, id) => {
      const { message } = await transport.sendMail(messageOf(mail, id));
      if (!Buffer.isBuffer(message)) throw new Error('the e-mail was not rendered into memory');
      await mkdir(folder, { recursive: true, mode: 0o700 });
      // The ids sort by time, and the same mail written twice becomes one file.
      const file = `${id}-${mail.to.replaceAll(/[^A-Za-z0-9.@-]/g, '_').slice(0, 100)}.eml`;
      await writeFile(path.join(folder, file), message, { mode: 0o600 });
      // Links in mails are secrets and addresses are personal data, so the log names only the mail's id. The
      // name of the written file begins with this id.
      logger.info({ id }, 'e-mail written to the folder');
    },
    close: () => undefined,
  };
}
