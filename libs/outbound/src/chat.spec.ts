import { describe, expect, it } from '@jest/globals';
import { chatBody, chatUrlRefusalReason, sendChatMessage } from './chat.ts';
import { type Sender } from './sender.ts';
import { sendWebhook } from './webhook.ts';

const message = {
  title: 'Ana has a question on WEB-1',
  text: 'Passkeys',
  link: 'https://m.example/console/s/WEB-1',
};
const hostileMessage = {
  title: '<!channel> & <@U1> [pay](https://evil.example)\u202E',
  text: '<https://evil.example|Sign in>\n@here',
  link: null,
};
const slackOf = (one: typeof message | typeof hostileMessage) =>
  JSON.parse(chatBody('slack', one)) as { text: string; blocks: { text: { text: string } }[] };

interface Card {
  readonly body: readonly { readonly inlines: readonly { readonly text: string }[] }[];
  readonly actions: readonly object[];
}
const cardOf = (one: typeof message | typeof hostileMessage): Card =>
  (JSON.parse(chatBody('teams', one)) as { attachments: [{ content: Card }] }).attachments[0].content;

describe('a message', () => {
  it('for Slack is text for the notification, and sections with a link', () => {
    const section = (text: string) => ({ type: 'section', text: { type: 'mrkdwn', text, verbatim: true } });
    expect(slackOf(message)).toEqual({
      text: 'Ana has a question on WEB-1',
      blocks: [
        section('<https://m.example/console/s/WEB-1|Ana has a question on WEB-1>'),
        section('Passkeys'),
      ],
    });
    expect(slackOf({ ...message, text: '' }).blocks).toHaveLength(1);
  });

  it('for Teams is an Adaptive Card with a button', () => {
    expect(JSON.parse(chatBody('teams', message))).toMatchObject({
      type: 'message',
      attachments: [{ contentType: 'application/vnd.microsoft.card.adaptive' }],
    });
    const { body, actions } = cardOf(message);
    expect(body.map(({ inlines }) => inlines[0]?.text)).toEqual([message.title, message.text]);
    expect(actions).toEqual([{ type: 'Action.OpenUrl', title: 'Open in Muster', url: message.link }]);
  });

  it('mentions nobody and has no links but its own, whatever people wrote', () => {
    const { text, blocks } = slackOf(hostileMessage);
    for (const part of [text, ...blocks.map((block) => block.text.text)])
      expect(part).not.toMatch(/[<>\u202E]/);
    expect(text).toBe('&lt;!channel&gt; &amp; &lt;@U1&gt; [pay](https://evil.example)');
    const card = cardOf(hostileMessage);
    // Text blocks would render Markdown; text runs do not.
    expect(JSON.stringify(card)).not.toContain('"TextBlock"');
    expect(card.actions).toEqual([]);
  });

  it('stays below the limits of both services, also if every character is escaped', () => {
    const long = { title: '&'.repeat(9_000), text: '<'.repeat(99_000), link: null };
    for (const block of slackOf(long).blocks) expect(block.text.text.length).toBeLessThan(6_000);
    expect(slackOf({ ...long, text: 'x'.repeat(99_000) }).blocks[1]?.text.text).toHaveLength(1_000);
    expect(chatBody('teams', long).length).toBeLessThan(28_000);
  });
});

describe('the address of a channel', () => {
  it.each([
    ['slack', 'https://hooks.slack.com/services/T0/B0/x'],
    ['slack', 'https://hooks.slack-gov.com/services/T0/B0/x'],
    ['teams', 'https://prod-12.westus.logic.azure.com:443/workflows/1/triggers/manual/paths/invoke?sig=x'],
    [
      'teams',
      'https://default1.aa.environment.api.powerplatform.com/powerautomate/automations/direct/x?sig=x',
    ],
    ['teams', 'https://acme.webhook.office.com/webhookb2/x'],
  ] as const)('of %s may be %s', (service, url) => {
    expect(chatUrlRefusalReason(service, url)).toBeNull();
  });

  it.each([
    ['slack', 'http://hooks.slack.com/services/T0/B0/x'],
    ['slack', 'https://hooks.slack.com:8443/services/T0/B0/x'],
    ['slack', 'https://hooks.slack.com.evil.example/services/T0/B0/x'],
    ['slack', 'https://evilhooks.slack.com/services/T0/B0/x'],
    ['slack', 'https://hooks.slack.com@169.254.169.254/services/T0/B0/x'],
    ['slack', 'https://ana:secret@hooks.slack.com/services/T0/B0/x'],
    ['slack', 'https://hooks.slack.com/triggers/T0/1/x'],
    ['slack', 'https://hooks.slack.com/services/../api/x'],
    ['slack', 'https://169.254.169.254/services/x'],
    ['slack', 'https://prod-12.westus.logic.azure.com/workflows/1'],
    ['teams', 'https://hooks.slack.com/services/T0/B0/x'],
    ['teams', 'https://logic.azure.com.evil.example/workflows/1'],
    ['teams', 'https://evillogic.azure.com/workflows/1'],
    ['teams', 'https://127.0.0.1/workflows/1'],
    ['teams', 'https://prod-12.westus.logic.azure.com/workflows/1#x'],
  ] as const)('of %s may not be %s', (service, url) => {
    expect(chatUrlRefusalReason(service, url)).not.toBeNull();
  });
});

describe('sending', () => {
  const senderAnswering = (status: number): Sender => ({
    post: async () => ({ status, text: '', headers: {} }),
    ask: () => Promise.reject(new Error('not used')),
    close: () => undefined,
  });

  it.each([
    [200, 'sent'],
    [202, 'sent'],
    [404, 'gone'],
    [410, 'gone'],
    [400, 'refused'],
    [403, 'refused'],
  ])('answers %s as %s', async (status, outcome) => {
    expect(await sendChatMessage(senderAnswering(status), 'slack', 'https://x.example', message)).toBe(
      outcome,
    );
  });

  it.each([408, 425, 429, 500, 503, 302])('is tried again after %s', async (status) => {
    await expect(
      sendChatMessage(senderAnswering(status), 'slack', 'https://x.example', message),
    ).rejects.toThrow(`slack answered ${status}`);
  });

  it('is not attempted if the address of a webhook cannot be decrypted', async () => {
    const { tried } = await sendWebhook(
      senderAnswering(200),
      { url: 'https://hooks.slack.com/…', format: 'slack', secrets: [] },
      { id: 'x', body: '{}' },
    );
    expect(tried).toMatchObject({
      status: null,
      error: "not sent: the webhook's secret cannot be decrypted",
    });
  });
});
