export interface Disposable {
  dispose(): void;
}

/** Listeners of one event. A listener that throws does not keep the others from hearing it. */
export class Emitter<T> {
  private readonly listeners = new Set<(value: T) => void>();

  /** Calls `listener` at each `fire` until the result is disposed of. */
  on(listener: (value: T) => void): Disposable {
    // A wrapper of its own, so that registering one function twice gives two registrations.
    const own = (value: T): void => listener(value);
    this.listeners.add(own);
    return { dispose: () => void this.listeners.delete(own) };
  }

  fire(value: T): void {
    let failure: { error: unknown } | null = null;
    for (const listener of [...this.listeners]) {
      try {
        listener(value);
      } catch (error) {
        failure ??= { error };
      }
    }
    if (failure !== null) throw failure.error;
  }
}
