/** The reader's channels of Slack and Microsoft Teams, and the Slack accounts that answer as the reader. */
import { useQuery } from '@tanstack/react-query';
import { useLocation, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { type ChatService, type Device } from '@muster/contract';
import { useClient, useIdentity } from '../data/context.ts';
import { ConfirmButton } from '../components/ask.tsx';
import { timeAgo } from '../messages/index.ts';
import { notificationTexts as words } from '../messages/notifications.ts';
import { texts } from '../messages/settings.ts';
import {
  Form,
  FormField,
  joinFacts,
  ListItem,
  OpenFormButton,
  QueryList,
  Section,
  SelectField,
  useSettingsWrite,
} from './components.tsx';
import { chatsQuery } from './queries.ts';
import { widestScope } from './rights.ts';

function NewChatForm({ onClose }: { readonly onClose: () => void }) {
  const { devices } = useClient();
  const { isBusy, run } = useSettingsWrite();
  const [service, setService] = useState<ChatService>('slack');
  const [name, setName] = useState('');
  const [url, setUrl] = useState('');
  const connect = async (): Promise<boolean> => {
    const isConnected = await run(() => devices.connectChat({ service, name, url }), words.chat.connected);
    if (isConnected) onClose();
    return isConnected;
  };
  return (
    <Form submitLabel={words.chat.connect} isBusy={isBusy} onSubmit={connect} onCancel={onClose}>
      <SelectField
        label={words.chat.service}
        value={service}
        optionLabels={words.chat.services}
        onChange={setService}
      />
      <FormField name={texts.name} hint={words.chat.nameHint}>
        <input
          className="field"
          required
          maxLength={120}
          value={name}
          onChange={({ target }) => setName(target.value)}
        />
      </FormField>
      <FormField name={words.chat.url} hint={words.chat.urlHints[service]}>
        <input
          className="field"
          type="url"
          required
          autoComplete="off"
          spellCheck={false}
          maxLength={2_048}
          placeholder="https://"
          value={url}
          onChange={({ target }) => setUrl(target.value)}
        />
      </FormField>
    </Form>
  );
}

interface SlackLink {
  readonly token: string;
  readonly userName: string;
  readonly teamId: string;
}

/**
 * Reads the link that Muster sent to a Slack account, from the fragment of the URL. Its signature is verified when the
 * account is connected. Returns undefined if there is none.
 */
function parseSlackLink(fragment: string): SlackLink | undefined {
  const token = /^slack=([\w.-]+)$/.exec(fragment)?.[1];
  if (token === undefined) return undefined;
  try {
    const base64 = token.split('.')[0]?.replaceAll('-', '+').replaceAll('_', '/') ?? '';
    const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
    const { userName, teamId } = JSON.parse(new TextDecoder().decode(bytes)) as Record<string, unknown>;
    return { token, userName: String(userName), teamId: String(teamId) };
  } catch {
    return undefined;
  }
}

function ConnectSlackAccount({ link: { token, userName, teamId } }: { readonly link: SlackLink }) {
  const { devices } = useClient();
  const navigate = useNavigate();
  const { isBusy, run } = useSettingsWrite();
  const close = (): void =>
    void navigate({ to: '/settings/$section', params: { section: 'notifications' }, replace: true });
  const connect = async (): Promise<boolean> => {
    const isConnected = await run(
      () => devices.connectSlackAccount({ linkToken: token }),
      words.chat.account.connected,
    );
    if (isConnected) close();
    return isConnected;
  };
  return (
    <Form submitLabel={words.chat.account.connect} isBusy={isBusy} onSubmit={connect} onCancel={close}>
      <h3>{words.chat.account.connectTitle(userName)}</h3>
      <p>{words.chat.account.connectWhy(teamId)}</p>
    </Form>
  );
}

function ChatRow({ chat, mayWrite }: { readonly chat: Device; readonly mayWrite: boolean }) {
  const { devices } = useClient();
  const { run } = useSettingsWrite();
  const { deviceId, name, platform, takesPush, createdAt } = chat;
  const isAccount = platform === 'slack_account';
  const service = platform === 'slack' || platform === 'teams' ? words.chat.services[platform] : null;
  return (
    <ListItem
      title={name}
      details={
        <>
          {!takesPush && !isAccount && (
            <span className="state" data-tone="bad">
              {words.chat.failed}
            </span>
          )}
          {joinFacts(isAccount ? words.chat.account.platform : service, words.chat.since(timeAgo(createdAt)))}
        </>
      }
    >
      {mayWrite && (
        <ConfirmButton
          actionLabel={texts.remove}
          subject={name}
          title={words.chat.removeTitle(name)}
          explanation={isAccount ? words.chat.account.removeWhy : words.chat.removeWhy}
          onConfirm={() => run(() => devices.unregister({ deviceId }))}
        />
      )}
    </ListItem>
  );
}

export function Chats() {
  const { token } = useIdentity();
  const mayWrite = widestScope(token.scopes) !== 'read';
  const [isConnecting, setConnecting] = useState(false);
  const chats = useQuery(chatsQuery(useClient()));
  const link = parseSlackLink(useLocation().hash);
  return (
    <Section
      id="chats"
      title={words.chat.title}
      intro={words.chat.intro}
      headerAction={
        mayWrite &&
        !isConnecting &&
        link === undefined && <OpenFormButton name={words.chat.connect} onOpen={() => setConnecting(true)} />
      }
    >
      {mayWrite && link !== undefined && <ConnectSlackAccount link={link} />}
      {isConnecting && <NewChatForm onClose={() => setConnecting(false)} />}
      <QueryList query={chats} emptyTitle={words.chat.empty} emptyWhy={words.chat.emptyWhy}>
        {(chat) => <ChatRow key={chat.id} chat={chat} mayWrite={mayWrite} />}
      </QueryList>
    </Section>
  );
}
