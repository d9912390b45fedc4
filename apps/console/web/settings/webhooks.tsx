/** Webhooks: their addresses, their state, and their deliveries. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { type InputOf, type Registry, type Webhook } from '@muster/registry';
import { useClient } from '../data/context.ts';
import { useAsk } from '../components/ask.tsx';
import { Menu, type MenuItem } from '../components/menu.tsx';
import { Icon } from '../components/icons.tsx';
import { Dialog } from '../components/dialog.tsx';
import { ago, exactly, span, t } from '../messages/index.ts';
import { s } from '../messages/settings.ts';
import { facts, Form, Item, Label, Listed, Once, Opener, Section, useWrite } from './components.tsx';
import { deliveriesQuery, webhooksQuery } from './queries.ts';

type EventKind = InputOf<Registry['webhooks']['create']>['kinds'][number];
type Group = keyof typeof s.webhooks.groups;

/** Event kinds grouped by topic, as receivers choose them. */
const groups: Readonly<Record<Group, readonly EventKind[]>> = {
  stories: [
    ...(['story.created', 'story.updated', 'story.statusChanged', 'story.deleted'] as const),
    ...(['epic.created', 'epic.updated', 'epic.deleted'] as const),
  ],
  specs: ['spec.updated', 'spec.restored', 'contract.published'],
  comments: [
    ...(['comment.created', 'comment.updated', 'comment.deleted', 'comment.resolved'] as const),
    'comment.reopened',
  ],
  reviews: [
    ...(['reviewer.added', 'reviewer.removed', 'review.decided', 'review.retracted'] as const),
    ...(['assignment.changed', 'assignment.cleared'] as const),
  ],
  work: [
    ...(['execution.acquired', 'execution.superseded', 'execution.checkpointed'] as const),
    ...([
      'execution.updated',
      'execution.stopRequested',
      'execution.stopLifted',
      'execution.reworkRequested',
      'execution.offered',
    ] as const),
    ...(['execution.released', 'execution.submitted', 'execution.completed', 'lease.expired'] as const),
    ...(['execution.observed', 'run.started', 'run.completed', 'run.failed', 'run.canceled'] as const),
  ],
  people: [
    ...(['member.roleChanged', 'member.removed', 'member.departed', 'invitation.created'] as const),
    ...(['invitation.accepted', 'access.requested', 'access.resolved'] as const),
    ...(['project.memberAdded', 'project.memberRemoved'] as const),
  ],
};
const choices = Object.keys(groups) as (keyof typeof groups)[];

function Make({
  projectId,
  onMade,
  onClose,
}: {
  readonly projectId: string | undefined;
  readonly onMade: (secret: string) => void;
  readonly onClose: () => void;
}) {
  const { webhooks } = useClient();
  const [url, setUrl] = useState('');
  const [chosen, setChosen] = useState<ReadonlySet<keyof typeof groups>>(new Set(['stories', 'work']));
  const { isBusy, run } = useWrite();
  const make = (): Promise<boolean> =>
    run(async () => {
      const { secret } = await webhooks.create({
        ...{ url, kinds: choices.filter((one) => chosen.has(one)).flatMap((one) => groups[one]) },
        ...(projectId !== undefined && { projectId }),
      });
      onMade(secret);
    });
  return (
    <Form act={s.webhooks.make} isBusy={isBusy || chosen.size === 0} onSubmit={make} onCancel={onClose}>
      <Label name={s.webhooks.url} hint={s.webhooks.urlHint}>
        <input
          className="field"
          type="url"
          required
          autoFocus
          value={url}
          placeholder="https://"
          onChange={({ target }) => setUrl(target.value)}
        />
      </Label>
      <fieldset className="checks">
        <legend className="label">{s.webhooks.what}</legend>
        {choices.map((one) => (
          <label key={one} className="switch">
            <input
              type="checkbox"
              checked={chosen.has(one)}
              onChange={({ target }) => {
                const next = new Set(chosen);
                if (target.checked) next.add(one);
                else next.delete(one);
                setChosen(next);
              }}
            />
            {s.webhooks.groups[one]}
          </label>
        ))}
      </fieldset>
    </Form>
  );
}

function Deliveries({ webhookId }: { readonly webhookId: string }) {
  const client = useClient();
  const { isBusy, run } = useWrite();
  const deliveries = useQuery(deliveriesQuery(client, webhookId));
  return (
    <Listed query={deliveries} empty={s.webhooks.noDeliveries}>
      {({ id, kind, state, tries, createdAt }) => {
        const last = tries.at(-1);
        return (
          <Item
            key={id}
            title={<code>{kind}</code>}
            fact={
              <>
                <span
                  className="state"
                  data-tone={state === 'delivered' ? 'good' : state === 'failed' ? 'bad' : 'wait'}
                >
                  {s.webhooks.states[state]}
                </span>
                <time dateTime={createdAt} title={exactly(createdAt)}>
                  {ago(createdAt)}
                </time>
                {last !== undefined && (
                  <span className="tabular">
                    {facts(last.status === null ? last.error : String(last.status), `${last.ms} ms`)}
                  </span>
                )}
              </>
            }
          >
            <button
              type="button"
              className="button"
              data-kind="quiet"
              disabled={isBusy}
              onClick={() => void run(() => client.webhooks.deliveries.redeliver({ deliveryId: id }))}
            >
              {s.webhooks.again}
            </button>
          </Item>
        );
      }}
    </Listed>
  );
}

const DeliveriesDialog = ({
  webhook: { id, url },
  onClose,
}: {
  readonly webhook: Webhook;
  readonly onClose: () => void;
}) => (
  <Dialog label={s.webhooks.deliveries} onClose={onClose}>
    <div className="dialog-body">
      <h2>{s.webhooks.deliveries}</h2>
      <p className="muted mono">{url}</p>
      <Deliveries webhookId={id} />
      <div className="dialog-foot">
        <button type="button" className="button" onClick={onClose}>
          {t.close}
        </button>
      </div>
    </div>
  </Dialog>
);

interface OneProps {
  readonly webhook: Webhook;
  readonly onSecret: (secret: string) => void;
}

/** The menu of a webhook. */
function Acts({ webhook, onSecret }: OneProps) {
  const { webhooks } = useClient();
  const { run } = useWrite();
  const { id: webhookId, url, state } = webhook;
  const deletion = useAsk({
    ...{ act: s.webhooks.delete, title: s.webhooks.deleteTitle },
    body: (
      <>
        <p className="mono">{url}</p>
        <p>{s.webhooks.deleteWhy}</p>
      </>
    ),
    run: () => run(() => webhooks.delete({ webhookId })),
  });
  const pausing: MenuItem =
    state === 'active'
      ? {
          ...{ id: 'pause', name: s.webhooks.pause },
          run: () => void run(() => webhooks.pause({ webhookId })),
        }
      : {
          ...{ id: 'resume', name: s.webhooks.resume },
          run: () => void run(() => webhooks.resume({ webhookId })),
        };
  return (
    <>
      <Menu
        label={s.webhooks.more(url)}
        className="icon-button"
        items={[
          {
            ...{ id: 'test', name: s.webhooks.test },
            run: () => void run(() => webhooks.test({ webhookId }), s.webhooks.tested),
          },
          pausing,
          {
            ...{ id: 'rotate', name: s.webhooks.rotate },
            run: () => void run(async () => onSecret((await webhooks.rotateSecret({ webhookId })).secret)),
          },
          { id: 'delete', name: s.webhooks.delete, run: deletion.open },
        ]}
      >
        <Icon name="more" />
      </Menu>
      {deletion.dialog}
    </>
  );
}

function One({ webhook, onSecret }: OneProps) {
  const [showsDeliveries, setShowsDeliveries] = useState(false);
  const { url, kinds, state, pausedReason, lag, lastSuccessAt } = webhook;
  const isActive = state === 'active';
  return (
    <Item
      title={<span className="mono">{url}</span>}
      fact={
        <>
          <span className="state" data-tone={isActive ? 'good' : 'wait'}>
            {isActive ? s.webhooks.active : s.webhooks.paused[pausedReason ?? 'asked']}
          </span>
          <span>
            {facts(
              s.webhooks.kinds(kinds.length),
              lastSuccessAt === null ? s.webhooks.none : s.webhooks.success(ago(lastSuccessAt)),
              lag > 0 && s.webhooks.lag(span(lag * 1_000)),
            )}
          </span>
        </>
      }
    >
      <button type="button" className="button" data-kind="quiet" onClick={() => setShowsDeliveries(true)}>
        {s.webhooks.deliveries}
        <span className="sr-only"> {url}</span>
      </button>
      <Acts webhook={webhook} onSecret={onSecret} />
      {showsDeliveries && <DeliveriesDialog webhook={webhook} onClose={() => setShowsDeliveries(false)} />}
    </Item>
  );
}

/** The webhooks of a project, or of the organization. */
export function Webhooks({ projectId }: { readonly projectId?: string }) {
  const [isMaking, setMaking] = useState(false);
  const [secret, setSecret] = useState<{ readonly title: string; readonly value: string } | null>(null);
  const webhooks = useQuery(webhooksQuery(useClient(), projectId));
  return (
    <Section
      id="webhooks"
      title={s.sections.webhooks}
      intro={s.webhooks.intro}
      act={!isMaking && <Opener name={s.webhooks.make} onOpen={() => setMaking(true)} />}
    >
      {isMaking && (
        <Make
          projectId={projectId}
          onClose={() => setMaking(false)}
          onMade={(value) => {
            setSecret({ title: s.webhooks.made, value });
            setMaking(false);
          }}
        />
      )}
      {secret !== null && (
        <Once
          title={secret.title}
          values={[[s.forges.secret, secret.value]]}
          onClose={() => setSecret(null)}
        />
      )}
      <Listed query={webhooks} empty={s.webhooks.empty} emptyWhy={s.webhooks.emptyWhy}>
        {(webhook) => (
          <One
            key={webhook.id}
            webhook={webhook}
            onSecret={(value) => setSecret({ title: s.webhooks.rotated, value })}
          />
        )}
      </Listed>
    </Section>
  );
}
