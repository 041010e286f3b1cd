// node.d.ts: declares the parts of Node that the worker uses, so that it compiles without other packages.

declare module "node:os" {
  export function hostname(): string;
}

declare module "node:process" {
  const process: {
    readonly pid: number;
    readonly env: Record<string, string | undefined>;
    on(event: "SIGTERM" | "SIGINT", listener: () => void): void;
    off(event: "SIGTERM" | "SIGINT", listener: () => void): void;
  };
  export default process;
}
