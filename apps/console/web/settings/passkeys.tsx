/** The reader's own passkeys. A passkey is created on the sign-in page, in the browser that will use it. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { type Passkey } from '@muster/contract';
import { useClient } from '../data/context.ts';
import { useReturnFocus } from '../components/focus.ts';
import { useLeaveConfirmation } from '../components/leaving.ts';
import { timeAgo, t } from '../messages/index.ts';
import { texts } from '../messages/settings.ts';
import { ConfirmButton } from '../components/ask.tsx';
import { joinFacts, ListItem, QueryList, Section, useSettingsWrite } from './components.tsx';
import { passkeysQuery } from './queries.ts';

function PasskeyRow({ passkey }: { readonly passkey: Passkey }) {
  const { passkeys } = useClient();
  const { isBusy, run } = useSettingsWrite();
  const { id: passkeyId, name, synced, createdAt, lastUsedAt } = passkey;
  const [typed, setTyped] = useState<string | null>(null);
  const opener = useReturnFocus(typed !== null);
  const askFirst = useLeaveConfirmation(typed !== null && typed !== name);
  const rename = async (): Promise<void> => {
    if (typed === null) return;
    if (typed === name || (await run(() => passkeys.rename({ passkeyId, name: typed })))) setTyped(null);
  };
  if (typed !== null)
    return (
      <li className="row set-row">
        <form
          className="form-line grow"
          onSubmit={(event) => {
            event.preventDefault();
            void rename();
          }}
        >
          <input
            className="field grow"
            required
            autoFocus
            maxLength={120}
            aria-label={`${texts.name}: ${name}`}
            value={typed}
            onChange={({ target }) => setTyped(target.value)}
          />
          <button type="submit" className="button" data-kind="main" disabled={isBusy}>
            {texts.save}
          </button>
          <button type="button" className="button" onClick={() => askFirst(() => setTyped(null))}>
            {t.cancel}
          </button>
        </form>
      </li>
    );
  return (
    <ListItem
      title={name}
      details={joinFacts(
        synced ? texts.passkeys.synced : texts.passkeys.bound,
        texts.passkeys.made(timeAgo(createdAt)),
        lastUsedAt === null ? texts.tokens.unused : texts.tokens.used(timeAgo(lastUsedAt)),
      )}
    >
      <button ref={opener} type="button" className="button" data-kind="quiet" onClick={() => setTyped(name)}>
        {texts.passkeys.rename}
        <span className="sr-only"> {name}</span>
      </button>
      <ConfirmButton
        actionLabel={texts.remove}
        subject={name}
        title={texts.passkeys.removeTitle(name)}
        explanation={texts.passkeys.removeWhy}
        onConfirm={() => run(() => passkeys.delete({ passkeyId }))}
      />
    </ListItem>
  );
}

export function Passkeys() {
  const passkeys = useQuery(passkeysQuery(useClient()));
  return (
    <Section
      id="passkeys"
      title={texts.sections.passkeys}
      intro={texts.passkeys.intro}
      headerAction={
        <a href="/sign-in/passkeys" className="button" data-kind="main">
          {texts.passkeys.make}
        </a>
      }
    >
      <QueryList query={passkeys} emptyTitle={texts.passkeys.empty} emptyWhy={texts.passkeys.emptyWhy}>
        {(passkey) => <PasskeyRow key={passkey.id} passkey={passkey} />}
      </QueryList>
    </Section>
  );
}
