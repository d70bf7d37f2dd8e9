/** A group of radios that is one stop for Tab; arrow keys choose (design/panel.md section 10). */
export function arrowKeysChoose(
  group: HTMLElement,
  keys: { back: string[]; on: string[] },
  choose: (radio: HTMLElement) => void,
): void {
  group.addEventListener('keydown', (event) => {
    const by = keys.back.includes(event.key) ? -1 : keys.on.includes(event.key) ? 1 : 0;
    if (by === 0) return;
    const radios = [...group.querySelectorAll<HTMLElement>('[role=radio]')];
    const at = radios.findIndex((radio) => radio === document.activeElement);
    const next = radios[(at + by + radios.length) % radios.length];
    if (at < 0 || !next) return;
    event.preventDefault();
    next.focus();
    choose(next);
  });
}

/** Marks one radio as chosen and makes it the group's stop. */
export function markChosen(radios: readonly HTMLElement[], chosen: HTMLElement | null): void {
  for (const radio of radios) {
    radio.setAttribute('aria-checked', String(radio === chosen));
    radio.tabIndex = radio === chosen ? 0 : -1;
  }
}
