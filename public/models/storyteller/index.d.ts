/** Address of the model's file, for `Engine.load`. */
export declare const modelUrl: string;
