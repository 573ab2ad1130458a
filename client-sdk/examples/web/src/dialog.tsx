import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { Icon } from './icon.tsx';
import type { Keys } from './keys.ts';
import { Problem } from './parts.tsx';
import { useForm, type Problems } from './use-form.ts';

type FormDialogProps = {
  heading: string;
  /** The words of the button that sends it. */
  action: string;
  /** Those while it is sent. */
  sending: string;
  /** Whether it takes something away. */
  isDanger?: boolean;
  send(keys: Keys): Promise<void>;
  blame?: (error: unknown) => Problems;
  /** It is closed, and whether it was sent before: then what the focus came from may be about to go. */
  onClose(isSent: boolean): void;
  children(problems: Problems): ComponentChildren;
};

/** A dialog over the page, which closes when it was sent. */
export function FormDialog({
  heading,
  action,
  sending,
  isDanger = false,
  send,
  blame,
  onClose,
  children,
}: FormDialogProps): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  const isSent = useRef(false);
  const isOver = useRef(false);
  // It gives the focus back to where it was, as long as it is closed before it goes. The page hears of it at once: the event
  // `close` comes later, and what was opened in between would be taken for this one.
  const close = (): void => {
    if (isOver.current) return;
    isOver.current = true;
    dialog.current?.close();
    onClose(isSent.current);
  };
  const { isSending, problem, problems, onSubmit } = useForm(async (keys) => {
    await send(keys);
    isSent.current = true;
    close();
  }, blame);
  useEffect(() => {
    dialog.current?.showModal();
    dialog.current?.querySelector<HTMLElement>('input, select, textarea')?.focus();
  }, []);

  return (
    <dialog
      ref={dialog}
      class="dialog"
      aria-labelledby="dialog-heading"
      onCancel={(event) => {
        event.preventDefault();
        close();
      }}
      onClose={close}
    >
      <form class="stack" onSubmit={onSubmit}>
        <header>
          <h2 id="dialog-heading">{heading}</h2>
          <button type="button" class="icon-button" aria-label="Close" onClick={close}>
            <Icon name="close" />
          </button>
        </header>
        {children(problems)}
        <Problem text={problem} />
        <button type="submit" class={`button wide ${isDanger ? 'danger' : 'primary'}`} aria-disabled={isSending}>
          {isSending ? sending : action}
        </button>
        {isDanger && (
          <button type="button" class="button ghost wide" onClick={close}>
            Cancel
          </button>
        )}
      </form>
    </dialog>
  );
}
