// Eight neighboring values of a key or value as they are stored: eight floats.
alias KvOct = Oct;
fn kv_oct(x: KvOct) -> Oct { return x; }
