import type { FreeCacheResult, Lifecycle, Sample, Step } from '../shared/agentProtocol';
import { AgentConnection, ProtocolError } from './agentConnection';
import { SocketDiscovery } from './discovery';
import { Emitter, type Disposable } from './emitter';
import { isAlive, readProcess } from './processTable';
import { Session, sessionKey } from './session';
import type { SocketEntry } from './socketFolders';

/** A session that says nothing for so long is shown as silent; at slow rates, two and a half periods. */
const silenceMs = 3000;
const housekeepingMs = 500;
const longestBackOffMs = 5000;
/** Ended sessions stay in view for this long, or until the same script starts again. */
const endedStayMs = 10 * 60_000;

export interface HubOptions {
  /** How this client names itself to agents. */
  client: string;
  hz: number;
  log(message: string): void;
  /** Only sessions it says yes to are connected; absent: all. */
  wants?(pid: number): boolean;
  /** Where to look; absent: the user's folders. */
  folders?: string[];
}

/** How one socket stands: being connected, connected, waiting for its next try, or given up. */
interface Attempt {
  entry: SocketEntry;
  state: 'connecting' | 'connected' | 'waiting' | 'refused';
  nextTryMs: number;
  backOffMs: number;
  connection: AgentConnection | null;
}

/** Every session of this user, live, while somebody watches. Without watchers it holds no socket and no timer. */
export class SessionHub {
  readonly onSession = new Emitter<Session>();
  readonly onSample = new Emitter<{ session: Session; sample: Sample }>();
  readonly onStep = new Emitter<{ session: Session; step: Step }>();
  readonly onLifecycle = new Emitter<{ session: Session; lifecycle: Lifecycle }>();
  readonly onEnd = new Emitter<Session>();
  /** Anything at all changed. */
  readonly onChange = new Emitter<void>();
  private readonly known = new Map<string, Session>();
  private readonly attempts = new Map<string, Attempt>();
  private readonly discovery: SocketDiscovery;
  private watchers = 0;
  private timer: NodeJS.Timeout | null = null;

  constructor(private readonly options: HubOptions) {
    const found = (sockets: SocketEntry[]): void => this.found(sockets);
    this.discovery = new SocketDiscovery(found, process.getuid?.() ?? -1, options.folders);
  }

  /** Sessions in order of their start, those that ended lately included. */
  get sessions(): readonly Session[] {
    return [...this.known.values()].sort((a, b) => a.hello.startTimeMs - b.hello.startTimeMs);
  }

  session(key: string): Session | undefined {
    return this.known.get(key);
  }

  /** Watches until the result is disposed of; several watchers share the connections. */
  watch(): Disposable {
    if (this.watchers++ === 0) {
      this.discovery.start();
      this.timer = setInterval(() => this.keepHouse(), housekeepingMs);
    }
    let watching = true;
    return {
      dispose: () => {
        if (!watching) return;
        watching = false;
        if (--this.watchers === 0) this.stop();
      },
    };
  }

  /** Resolves when every session that is there now has been greeted, or `timeoutMs` is over. */
  async settled(timeoutMs: number): Promise<void> {
    const endMs = Date.now() + timeoutMs;
    const busy = (): boolean =>
      !this.discovery.hasLooked || [...this.attempts.values()].some((attempt) => attempt.state === 'connecting');
    while (busy() && Date.now() < endMs) await new Promise((resolve) => setTimeout(resolve, 20));
  }

  /** Asks the session to return its cache, and keeps the answer with it. */
  async freeCache(session: Session): Promise<FreeCacheResult> {
    const connection = this.connectionOf(session);
    const gone: FreeCacheResult = { done: false, reason: 'noAnswer', message: 'The session is not connected.' };
    session.freeing = true;
    this.onChange.fire();
    const result = connection === null ? gone : await connection.freeCache();
    session.freeing = false;
    session.freed = { timeMs: Date.now(), result };
    this.onChange.fire();
    return result;
  }

  private connectionOf(session: Session): AgentConnection | null {
    for (const attempt of this.attempts.values()) {
      if (sessionKey(attempt.entry.origin) === session.key && attempt.connection !== null) return attempt.connection;
    }
    return null;
  }

  private stop(): void {
    this.discovery.stop();
    if (this.timer !== null) clearInterval(this.timer);
    this.timer = null;
    const attempts = [...this.attempts.values()];
    // Forgotten first: the closes that follow are ours and say nothing about the sessions.
    this.attempts.clear();
    for (const attempt of attempts) attempt.connection?.close();
  }

  private found(sockets: SocketEntry[]): void {
    const nowMs = Date.now();
    const there = new Set(sockets.map((entry) => entry.path));
    for (const [path, attempt] of this.attempts) {
      if (!there.has(path) && attempt.state !== 'connected' && attempt.state !== 'connecting')
        this.attempts.delete(path);
    }
    for (const entry of sockets) {
      if (this.options.wants !== undefined && !this.options.wants(entry.origin.pid)) continue;
      const attempt = this.attempts.get(entry.path);
      if (attempt === undefined) {
        if (!this.processIsGone(entry)) this.connect(entry, 0);
      } else if (attempt.state === 'waiting' && nowMs >= attempt.nextTryMs && !this.processIsGone(entry)) {
        this.connect(entry, attempt.backOffMs);
      }
    }
  }

  private connect(entry: SocketEntry, backOffMs: number): void {
    const attempt: Attempt = { entry, state: 'connecting', nextTryMs: 0, backOffMs, connection: null };
    this.attempts.set(entry.path, attempt);
    this.greet(attempt).catch((error: unknown) => {
      if (error instanceof ProtocolError) {
        attempt.state = 'refused';
        this.options.log(`Session ${entry.origin.pid} is ignored: ${error.message}.`);
        return;
      }
      this.wait(attempt);
    });
  }

  private async greet(attempt: Attempt): Promise<void> {
    const { entry } = attempt;
    let session: Session | null = null;
    const logged = new Set<string>();
    const current = (): Session | null => (this.attempts.get(entry.path) === attempt ? session : null);
    const connection = await AgentConnection.open(entry, this.options.client, this.options.hz, {
      sample: (sample) => {
        const heard = current();
        if (heard === null) return;
        heard.addSample(sample, Date.now());
        this.onSample.fire({ session: heard, sample });
        this.onChange.fire();
      },
      step: (step) => {
        const heard = current();
        if (heard === null) return;
        heard.addStep(step, Date.now());
        this.onStep.fire({ session: heard, step });
        this.onChange.fire();
      },
      lifecycle: (lifecycle) => {
        const heard = current();
        if (heard === null) return;
        heard.addLifecycle(lifecycle, Date.now());
        this.onLifecycle.fire({ session: heard, lifecycle });
        this.onChange.fire();
      },
      malformed: (method) => {
        if (logged.has(method)) return;
        logged.add(method);
        this.options.log(`Session ${entry.origin.pid} sent a ${method} that is not in the protocol; ignored.`);
      },
      closed: () => this.wait(attempt),
    });
    if (this.attempts.get(entry.path) !== attempt) {
      connection.close();
      return;
    }
    attempt.state = 'connected';
    attempt.backOffMs = 0;
    attempt.connection = connection;
    session = this.greeted(entry, connection);
    this.onChange.fire();
  }

  private greeted(entry: SocketEntry, connection: AgentConnection): Session {
    const nowMs = Date.now();
    const key = sessionKey(entry.origin);
    const known = this.known.get(key);
    if (known !== undefined) {
      known.regreet(connection.hello, nowMs);
      return known;
    }
    const session = new Session(entry.origin, connection.hello, nowMs);
    for (const other of this.known.values()) {
      if (other.exit !== null && other.hello.script === session.hello.script) this.known.delete(other.key);
    }
    this.known.set(key, session);
    this.onSession.fire(session);
    return session;
  }

  /** The connection failed or closed: try again later, the housekeeping sees whether the process is gone. */
  private wait(attempt: Attempt): void {
    if (this.attempts.get(attempt.entry.path) !== attempt) return;
    attempt.connection = null;
    attempt.state = 'waiting';
    attempt.backOffMs = Math.min(Math.max(attempt.backOffMs * 2, housekeepingMs), longestBackOffMs);
    attempt.nextTryMs = Date.now() + attempt.backOffMs;
    this.keepHouse();
  }

  private keepHouse(): void {
    const nowMs = Date.now();
    const silentAfterMs = Math.max(silenceMs, 2500 / this.options.hz);
    for (const session of this.known.values()) {
      if (session.exit !== null) {
        if (nowMs - (session.endedMs ?? nowMs) > endedStayMs) this.forget(session);
      } else if (this.connectionOf(session) === null && this.hasEnded(session)) {
        session.end(nowMs, this.sharesNamespace(session.origin.pidNamespace));
        this.onEnd.fire(session);
        this.onChange.fire();
      } else if (session.silentSinceMs === null && nowMs - session.heardMs > silentAfterMs) {
        session.silentSinceMs = session.heardMs;
        this.onChange.fire();
      }
    }
  }

  private forget(session: Session): void {
    this.known.delete(session.key);
    this.onChange.fire();
  }

  private hasEnded(session: Session): boolean {
    const attempt = [...this.attempts.values()].find((one) => sessionKey(one.entry.origin) === session.key);
    if (attempt?.state === 'connecting') return false;
    if (this.sharesNamespace(session.origin.pidNamespace))
      return !isSameProcess(session.origin.pid, session.origin.start);
    // Its PID means nothing here: gone when its socket is, or when nobody answers there any more.
    return attempt === undefined || attempt.backOffMs >= longestBackOffMs;
  }

  private processIsGone(entry: SocketEntry): boolean {
    return this.sharesNamespace(entry.origin.pidNamespace) && !isSameProcess(entry.origin.pid, entry.origin.start);
  }

  private sharesNamespace(pidNamespace: string): boolean {
    return pidNamespace === this.discovery.pidNamespace;
  }
}

/** Whether `pid` still is the process that started then: PIDs are used again. */
function isSameProcess(pid: number, start: string): boolean {
  if (!isAlive(pid)) return false;
  const stat = readProcess(pid);
  return stat === null || stat.start === start;
}
