// node.d.ts: declares the parts of Node that the tests and the example use, so that they compile without other packages.

declare module "node:crypto" {
  export function randomUUID(): string;
}

declare module "node:process" {
  const process: { readonly pid: number; readonly env: Record<string, string | undefined> };
  export default process;
}

declare module "node:test" {
  export default function test(name: string, run: () => Promise<void>): Promise<void>;
}

declare module "node:assert/strict" {
  const assert: {
    (value: unknown, message?: string): asserts value;
    equal(actual: unknown, expected: unknown, message?: string): void;
    deepEqual(actual: unknown, expected: unknown, message?: string): void;
    rejects(promise: Promise<unknown>, check: (error: unknown) => boolean): Promise<void>;
  };
  export default assert;
}

declare module "node:fs" {
  export function readFileSync(path: string, encoding: "utf-8"): string;
}

declare module "node:net" {
  export interface Socket {
    on(event: "data", listener: (bytes: Uint8Array) => void): this;
    on(event: "close" | "error", listener: () => void): this;
    write(bytes: Uint8Array): boolean;
    destroy(): void;
  }
  export interface Server {
    listen(port: number, host: string, ready: () => void): void;
    address(): { port: number };
    close(): void;
  }
  export function createServer(onConnection: (socket: Socket) => void): Server;
  export function connect(port: number, host: string): Socket;
}

declare module "node:http" {
  interface Request {
    url: string;
    headers: Record<string, string | undefined>;
    on(event: "data", listener: (bytes: Uint8Array) => void): void;
    on(event: "end", listener: () => void): void;
    resume(): void;
  }
  interface Response {
    writeHead(status: number): this;
    end(text: string): void;
  }
  export function createServer(onRequest: (request: Request, response: Response) => void): import("node:net").Server;
}
