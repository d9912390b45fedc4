import { Dialog } from '../components/dialog.tsx';
import { setShortcutsEnabled, useShortcutsEnabled } from '../components/keys.ts';
import { helpTexts } from '../messages/help.ts';
import { t } from '../messages/index.ts';

/** The label of the modifier key on this system. */
const modifierKeyLabel = /Mac|iP(hone|ad|od)/.test(navigator.userAgent) ? '⌘' : 'Ctrl';

/** Lists the keyboard shortcuts, with the switch for single-key ones. */
export default function KeyboardShortcutsDialog({ onClose }: { readonly onClose: () => void }) {
  const isOn = useShortcutsEnabled();
  return (
    <Dialog label={helpTexts.title} onClose={onClose}>
      <div className="dialog-body">
        <h2>{helpTexts.title}</h2>
        <dl className="keys">
          {helpTexts.keys.map(([keys, meaning]) => (
            <div key={meaning} className="fact">
              <dt>
                {keys.split(' ').map((key) => (
                  <kbd key={key}>{key === 'mod' ? modifierKeyLabel : key}</kbd>
                ))}
              </dt>
              <dd>{meaning}</dd>
            </div>
          ))}
        </dl>
        <label className="switch">
          <input
            type="checkbox"
            checked={isOn}
            onChange={({ target }) => setShortcutsEnabled(target.checked)}
          />
          {helpTexts.single}
        </label>
        <div className="dialog-foot">
          <button type="button" className="button" onClick={onClose}>
            {t.close}
          </button>
        </div>
      </div>
    </Dialog>
  );
}
