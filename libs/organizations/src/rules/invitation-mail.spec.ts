import { describe, expect, it } from '@jest/globals';
import { renderInvitationMail } from './invitation-mail.ts';

const mailContent = {
  to: 'noor@example.com',
  role: 'admin',
  inviter: 'Ben <b>',
  organization: 'Acme & Sons',
  expiresAt: '2026-11-21T09:30:00.000Z',
  url: 'https://muster.example/invitations/accept',
  secret: 'inv_secret',
} as const;

describe('the e-mail of an invitation', () => {
  it('says who invites, into what, as what, until when, and how to accept', () => {
    const { subject, text, link } = renderInvitationMail(mailContent);
    expect(subject).toBe('Ben <b> invited you to Acme & Sons on Muster');
    expect(link).toBe('https://muster.example/invitations/accept#token=inv_secret');
    // Servers and logs never receive the secret.
    expect(new URL(link).pathname + new URL(link).search).toBe('/invitations/accept');
    for (const part of [
      'Ben <b> invited you to join Acme & Sons on Muster as an admin.',
      link,
      'curl -X POST https://muster.example/invitations/accept',
      `-d '{"token": "inv_secret", "name": "Your Name"}'`,
      '21 November 2026, 09:30 UTC',
    ])
      expect(text).toContain(part);
  });

  it('shows names in HTML as they are, and not as markup', () => {
    const { html } = renderInvitationMail(mailContent);
    expect(html).toContain('Ben &#60;b&#62; invited you to join Acme &#38; Sons');
    expect(html).not.toContain('<b>');
  });
});
