/** Webhooks: their addresses, their state, and their deliveries. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { type InputOf, type Webhook } from '@muster/contract';
import { type Registry } from '@muster/registry';
import { useClient } from '../data/context.ts';
import { useConfirmDialog } from '../components/ask.tsx';
import { announceToScreenReader } from '../components/notices.tsx';
import { Menu, type MenuItem } from '../components/menu.tsx';
import { Icon } from '../components/icons.tsx';
import { Dialog } from '../components/dialog.tsx';
import { TimeAgo } from '../components/time-ago.tsx';
import { timeAgo, formatDuration, t } from '../messages/index.ts';
import { texts } from '../messages/settings.ts';
import {
  joinFacts,
  Form,
  ListItem,
  FormField,
  QueryList,
  SelectField,
  OneTimeSecrets,
  OpenFormButton,
  Section,
  useSettingsWrite,
} from './components.tsx';
import { deliveriesQuery, webhooksQuery } from './queries.ts';

type EventKind = InputOf<Registry['webhooks']['create']>['kinds'][number];
type EventGroup = keyof typeof texts.webhooks.groups;

type WebhookFormat = Webhook['format'];

/** Event kinds grouped by topic, as receivers choose them. */
const kindsByGroup: Readonly<Record<EventGroup, readonly EventKind[]>> = {
  // Channels receive only those comments that are questions.
  needs: [
    ...(['comment.created', 'reviewer.added', 'assignment.changed', 'execution.offered'] as const),
    ...(['execution.stopRequested', 'lease.expired', 'budget.warned', 'access.requested'] as const),
    ...(['story.mergeReverted', 'forge.deliveriesFailed'] as const),
  ],
  stories: ['story.*', 'epic.*'],
  specs: ['spec.*', 'contract.*'],
  comments: ['comment.*'],
  reviews: ['reviewer.*', 'review.*', 'assignment.*'],
  work: ['execution.*', 'lease.*', 'run.*'],
  people: ['member.*', 'invitation.*', 'access.*', 'project.memberAdded', 'project.memberRemoved'],
  audit: ['audit.*'],
};
const groupNames = Object.keys(kindsByGroup) as (keyof typeof kindsByGroup)[];

/** Returns the groups that a webhook of this format can subscribe to. */
const groupNamesFor = (format: WebhookFormat, projectId: string | undefined): EventGroup[] =>
  groupNames.filter((one) => {
    if (one === 'needs') return format !== 'standard';
    return one !== 'audit' || (format === 'standard' && projectId === undefined);
  });

const initialGroups = (format: WebhookFormat): ReadonlySet<EventGroup> =>
  new Set(format === 'standard' ? ['stories', 'work'] : ['needs']);

/** The number of kinds that a row names; it counts the others. */
const namedKinds = 3;

interface NewWebhookFormProps {
  readonly projectId: string | undefined;
  /** `secret` is empty for a channel, whose messages are not signed. */
  readonly onCreated: (secret: string) => void;
  readonly onClose: () => void;
}

function NewWebhookForm({ projectId, onCreated, onClose }: NewWebhookFormProps) {
  const { webhooks } = useClient();
  const [url, setUrl] = useState('');
  const [format, setFormat] = useState<WebhookFormat>('standard');
  const [chosen, setChosen] = useState(initialGroups('standard'));
  const { isBusy, run } = useSettingsWrite();
  const make = (): Promise<boolean> =>
    run(async () => {
      const { secret } = await webhooks.create({
        ...{ url, format },
        kinds: groupNames.filter((one) => chosen.has(one)).flatMap((one) => kindsByGroup[one]),
        ...(projectId !== undefined && { projectId }),
      });
      onCreated(secret);
    });
  return (
    <Form
      submitLabel={texts.webhooks.make}
      isBusy={isBusy || chosen.size === 0}
      onSubmit={make}
      onCancel={onClose}
    >
      <SelectField
        label={texts.webhooks.format}
        value={format}
        optionLabels={texts.webhooks.formats}
        onChange={(next) => {
          setFormat(next);
          setChosen(initialGroups(next));
        }}
      />
      <FormField
        name={texts.webhooks.url}
        hint={format === 'standard' ? texts.webhooks.urlHint : texts.webhooks.chatUrlHint}
      >
        <input
          className="field"
          type="url"
          required
          autoComplete="off"
          value={url}
          placeholder="https://"
          onChange={({ target }) => setUrl(target.value)}
        />
      </FormField>
      <fieldset className="checks">
        <legend className="label">{texts.webhooks.what}</legend>
        {groupNamesFor(format, projectId).map((one) => (
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
            {texts.webhooks.groups[one]}
          </label>
        ))}
      </fieldset>
    </Form>
  );
}

function Deliveries({ webhookId }: { readonly webhookId: string }) {
  const client = useClient();
  const { isBusy, run } = useSettingsWrite();
  const deliveries = useQuery(deliveriesQuery(client, webhookId));
  return (
    <QueryList
      query={deliveries}
      emptyTitle={texts.webhooks.noDeliveries}
      emptyWhy={texts.webhooks.noDeliveriesWhy}
    >
      {({ id, kind, state, tries, createdAt }) => {
        const last = tries.at(-1);
        return (
          <ListItem
            key={id}
            title={<code>{kind}</code>}
            details={
              <>
                <span
                  className="state"
                  data-tone={state === 'delivered' ? 'good' : state === 'failed' ? 'bad' : 'wait'}
                >
                  {texts.webhooks.states[state]}
                </span>
                <TimeAgo at={createdAt} />
                {last !== undefined && (
                  <span className="tabular">
                    {joinFacts(last.status === null ? last.error : String(last.status), `${last.ms} ms`)}
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
              {texts.webhooks.again}
            </button>
          </ListItem>
        );
      }}
    </QueryList>
  );
}

interface DeliveriesDialogProps {
  readonly webhook: Webhook;
  readonly onClose: () => void;
}

const DeliveriesDialog = ({ webhook: { id, url }, onClose }: DeliveriesDialogProps) => (
  <Dialog label={texts.webhooks.deliveries} onClose={onClose}>
    <div className="dialog-body">
      <h2>{texts.webhooks.deliveries}</h2>
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

interface WebhookRowProps {
  readonly webhook: Webhook;
  readonly onNewSecret: (secret: string) => void;
}

/** The menu of a webhook. */
function WebhookMenu({ webhook, onNewSecret }: WebhookRowProps) {
  const { webhooks } = useClient();
  const { run } = useSettingsWrite();
  const { id: webhookId, url, state, format } = webhook;
  const rotation: MenuItem = {
    ...{ id: 'rotate', name: texts.webhooks.rotate },
    run: () => void run(async () => onNewSecret((await webhooks.rotateSecret({ webhookId })).secret)),
  };
  const deletion = useConfirmDialog({
    ...{ actionLabel: texts.webhooks.delete, title: texts.webhooks.deleteTitle },
    body: (
      <>
        <p className="mono">{url}</p>
        <p>{texts.webhooks.deleteWhy}</p>
      </>
    ),
    onConfirm: () => run(() => webhooks.delete({ webhookId })),
  });
  const pausing: MenuItem =
    state === 'active'
      ? {
          ...{ id: 'pause', name: texts.webhooks.pause },
          run: () => void run(() => webhooks.pause({ webhookId })),
        }
      : {
          ...{ id: 'resume', name: texts.webhooks.resume },
          run: () => void run(() => webhooks.resume({ webhookId })),
        };
  return (
    <>
      <Menu
        label={texts.webhooks.more(url)}
        className="icon-button"
        items={[
          {
            ...{ id: 'test', name: texts.webhooks.test },
            run: () => void run(() => webhooks.test({ webhookId }), texts.webhooks.tested),
          },
          pausing,
          ...(format === 'standard' ? [rotation] : []),
          { id: 'delete', name: texts.webhooks.delete, run: deletion.open },
        ]}
      >
        <Icon name="more" />
      </Menu>
      {deletion.dialog}
    </>
  );
}

function WebhookRow({ webhook, onNewSecret }: WebhookRowProps) {
  const [showsDeliveries, setShowsDeliveries] = useState(false);
  const { url, kinds, state, pausedReason, lag, lastSuccessAt } = webhook;
  const isActive = state === 'active';
  return (
    <ListItem
      title={<span className="mono">{url}</span>}
      details={
        <>
          <span className="state" data-tone={isActive ? 'good' : 'wait'}>
            {isActive ? texts.webhooks.active : texts.webhooks.paused[pausedReason ?? 'asked']}
          </span>
          <span>
            {joinFacts(
              webhook.format !== 'standard' && texts.webhooks.formats[webhook.format],
              texts.webhooks.kinds(kinds.slice(0, namedKinds), kinds.length - namedKinds),
              lastSuccessAt === null ? texts.webhooks.none : texts.webhooks.success(timeAgo(lastSuccessAt)),
              lag > 0 && texts.webhooks.lag(formatDuration(lag * 1_000)),
            )}
          </span>
        </>
      }
    >
      <button type="button" className="button" data-kind="quiet" onClick={() => setShowsDeliveries(true)}>
        {texts.webhooks.deliveries}
        <span className="sr-only"> {url}</span>
      </button>
      <WebhookMenu webhook={webhook} onNewSecret={onNewSecret} />
      {showsDeliveries && <DeliveriesDialog webhook={webhook} onClose={() => setShowsDeliveries(false)} />}
    </ListItem>
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
      title={texts.sections.webhooks}
      intro={texts.webhooks.intro}
      headerAction={!isMaking && <OpenFormButton name={texts.webhooks.make} onOpen={() => setMaking(true)} />}
    >
      {isMaking && (
        <NewWebhookForm
          projectId={projectId}
          onClose={() => setMaking(false)}
          onCreated={(value) => {
            if (value === '') announceToScreenReader(texts.webhooks.chatMade);
            else setSecret({ title: texts.webhooks.made, value });
            setMaking(false);
          }}
        />
      )}
      {secret !== null && (
        <OneTimeSecrets
          title={secret.title}
          values={[[texts.forges.secret, secret.value]]}
          onClose={() => setSecret(null)}
        />
      )}
      <QueryList query={webhooks} emptyTitle={texts.webhooks.empty} emptyWhy={texts.webhooks.emptyWhy}>
        {(webhook) => (
          <WebhookRow
            key={webhook.id}
            webhook={webhook}
            onNewSecret={(value) => setSecret({ title: texts.webhooks.rotated, value })}
          />
        )}
      </QueryList>
    </Section>
  );
}
