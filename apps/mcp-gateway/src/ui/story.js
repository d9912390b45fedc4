// The view of a story with its spec and verdicts, and with inputs for the caller's own verdict.
import { begin, call, el, label, mayCall, show, tellModel } from './frame.js';

const verdicts = [
  ['approved', 'Approve'],
  ['changes_requested', 'Request changes'],
  ['commented', 'Comment'],
];

function reviewers(list) {
  if (list.length === 0) return el('p', { class: 'quiet', text: 'No reviewers.' });
  const row = ({ reviewer, verdict, stale, note }) =>
    el(
      'li',
      {},
      el('strong', { text: reviewer.name ?? reviewer.member?.name ?? reviewer.agent?.name }),
      el('span', { class: verdict === 'changes_requested' ? 'mark warn' : 'mark', text: label(verdict) }),
      stale && el('span', { class: 'mark warn', text: 'Outdated' }),
      note && el('p', { class: 'note', text: note }),
    );
  return el('ul', { class: 'rows' }, list.map(row));
}

/**
 * Creates the inputs for a verdict. They are not in a form element, because hosts block form submission in
 * frames.
 */
function ownVerdict(key) {
  const said = el('p', { role: 'status' });
  const note = el('textarea', { id: 'note', rows: '2' });
  const radios = verdicts.map(([value], at) =>
    el('input', { type: 'radio', name: 'verdict', value, checked: at === 0 }),
  );
  const send = async ({ currentTarget: button }) => {
    const verdict = radios.find(({ checked }) => checked).value;
    const given = note.value.trim();
    button.disabled = true;
    said.className = 'quiet';
    said.textContent = 'Sending…';
    try {
      await call('reviewers_setVerdict', { storyId: key, verdict, ...(given !== '' && { note: given }) });
      said.textContent = `Verdict on ${key} saved: ${label(verdict)}.`;
      const why = given === '' ? '' : `, with the note: ${given}`;
      tellModel(`A person set the verdict "${verdict}" on ${key}${why}.`);
    } catch (failure) {
      said.className = 'refused';
      said.textContent = failure.message;
    }
    button.disabled = false;
  };
  const choices = verdicts.map(([, text], at) => el('label', { class: 'choice' }, radios[at], text));
  return el(
    'div',
    { class: 'own' },
    el('fieldset', {}, el('legend', { text: 'Your verdict' }), choices),
    el('label', { for: 'note', text: 'Note (required to request changes)' }),
    note,
    el('button', { type: 'button', text: 'Send verdict', on: { click: send } }),
    said,
  );
}

begin('story', ({ story, spec, readiness, execution, reviewers: asked }, args) => {
  const key = story?.key ?? args.storyId;
  const held = execution?.lease?.holder;
  // The holder is already shown.
  const reasons = (readiness?.reasons ?? []).filter((reason) => reason !== 'lease_held').map(label);
  show(
    el(
      'header',
      {},
      el('p', { class: 'key', text: key }),
      el('h1', { text: story?.title ?? 'Story' }),
      el(
        'p',
        { class: 'facts' },
        story && el('span', { class: 'mark', text: label(story.status) }),
        held && el('span', { class: 'who', text: `Held by ${held.name}` }),
        reasons.length > 0 && el('span', { class: 'mark warn', text: `Cannot start: ${reasons.join(', ')}` }),
      ),
    ),
    el('h2', { text: 'Verdicts' }),
    reviewers(asked ?? []),
    mayCall() && ownVerdict(key),
    el('h2', { text: 'Spec' }),
    spec?.content
      ? el('pre', { tabindex: '0', 'aria-label': 'Spec', text: spec.content })
      : el('p', { class: 'quiet', text: 'There is no spec, or it was not requested.' }),
  );
});
